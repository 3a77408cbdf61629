package org

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

func goExample(base, key, number string) string {
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
