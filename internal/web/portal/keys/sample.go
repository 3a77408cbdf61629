package keys

import (
	"github.com/lineproof/lineproof/internal/access"
)

// verifyPath is the API path of a verification.
const verifyPath = "/api/v1/phone/api/phone-numbers/verify"

// exampleNumber returns the number in the examples. A test key works with test
// numbers only; for a live key the number shows the format and is to be replaced
// by a customer's.
func (p *Pages) exampleNumber(mode string) string {
	const example = "+2348031234567"
	if _, err := p.Region.ParseMobile(example); mode == access.Live && err == nil {
		return example
	}
	if p.Simulator != nil {
		if numbers := p.Simulator.TestNumbers(); len(numbers) > 0 {
			return numbers[0].Number.E164()
		}
	}
	return example
}

// The examples below are for developers to copy. Tests run them.

func curlExample(base, key, number string) string {
	return `curl -sS ` + base + verifyPath + ` \
  -H 'Authorization: Bearer ` + key + `' \
  -H 'Content-Type: application/json' \
  -d '{"phoneNumber":"` + number + `"}'
`
}

// goExample uses the standard library only, so that it runs without fetching anything.
func goExample(base, key, number string) string {
	return `package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"
)

func main() {
	body := strings.NewReader(` + "`" + `{"phoneNumber":"` + number + `"}` + "`" + `)
	r, err := http.NewRequest(http.MethodPost, "` + base + verifyPath + `", body)
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ` + key + `")
	r.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Timeout: 5 * time.Second}).Do(r)
	if err != nil {
		log.Fatal(err) // no answer: step up, never allow
	}
	defer response.Body.Close()
	var v struct {
		Data struct{ Status, MobileNetwork, RequestID, Code, Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&v); err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatal("no answer: step up, never allow: ", v.Data.Code, " ", v.Data.Message)
	}
	fmt.Println(v.Data.Status == "NORMAL", v.Data.Status, v.Data.MobileNetwork, v.Data.RequestID)
}
`
}

func typeScriptExample(base, key, number string) string {
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
