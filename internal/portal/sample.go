package portal

import (
	"net"
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
)

// verifyPath is where a number is verified.
const verifyPath = "/api/v1/phone/api/phone-numbers/verify"

// base returns the address under which programs reach the service: the one that
// the settings name, or the one by which the visitor came.
func (p *Portal) base(r *http.Request) string {
	if p.PublicURL != "" {
		return p.PublicURL
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if ip := net.ParseIP(host); r.TLS == nil && (host == "localhost" || (ip != nil && ip.IsLoopback())) {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// exampleNumber returns a number to begin with. A key for tests has numbers of
// its own; for a live key it shows how a number is written, and stands where the
// customer's goes.
func (p *Portal) exampleNumber(mode string) string {
	const common = "+2348031234567"
	if _, err := p.Region.ParseMobile(common); mode == access.Live && err == nil {
		return common
	}
	if p.Stage != nil {
		if roles := p.Stage.Roles(); len(roles) > 0 {
			return roles[0].Number.E164()
		}
	}
	return common
}

// The lines below are for somebody to copy. They are not run here; tests do.

func curlLines(base, key, number string) string {
	return `curl -sS ` + base + verifyPath + ` \
  -H 'Authorization: Bearer ` + key + `' \
  -H 'Content-Type: application/json' \
  -d '{"phoneNumber":"` + number + `"}'
`
}

func goLines(base, key, number string) string {
	return `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lineproof/lineproof/client"
)

func main() {
	c := &client.Client{BaseURL: "` + base + `"}
	v, err := c.Verify(context.Background(), "` + key + `", "` + number + `")
	if err != nil {
		log.Fatal(err) // no answer: step up, never allow
	}
	fmt.Println(v.Status == client.StatusNormal, v.Status, v.MobileNetwork, v.RequestID)
}
`
}

func scriptLines(base, key, number string) string {
	return `const response = await fetch("` + base + verifyPath + `", {
  method: "POST",
  headers: {
    Authorization: "Bearer ` + key + `",
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ phoneNumber: "` + number + `" }),
  signal: AbortSignal.timeout(5000),
});
const { data } = (await response.json()) as { data: { status: string; mobileNetwork: string; requestId: string } };
if (!response.ok) throw new Error("no answer: step up, never allow");
console.log(data.status === "NORMAL", data.status, data.mobileNetwork, data.requestId);
`
}
