package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/lineproof/lineproof/client"
)

// newService is a service for the examples: it responds to each operation with
// an example of the contract.
func newService(overrides ...string) *httptest.Server {
	names := map[string]string{
		tokenPath: "200 token", onboardPath: "200 approved", uploadPath: "200 stored",
		loginPath: "200 session", verifyPath: "200 normal",
	}
	for i := 0; i+1 < len(overrides); i += 2 {
		names[overrides[i]] = overrides[i+1]
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		example(r.URL.Path, names[r.URL.Path]).write(w)
	}))
}

func ExampleClient_Verify() {
	service := newService()
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	key := client.Secret(os.Getenv("LINEPROOF_API_KEY"))
	if key == "" {
		key = "lp_live_ExampleKeyExampleKeyExampleKey0000000"
	}
	v, err := c.Verify(ctx, key, "+2348031234567")
	if err != nil {
		fmt.Println(err)
		return
	}
	if v.Status == client.StatusNormal {
		fmt.Println("on", v.MobileNetwork, "and normal")
	}
	fmt.Println("proof:", v.RequestID)
	// Output:
	// on Savanna Mobile and normal
	// proof: 01a1d964-6e3b-7f18-9a27-c6b5a4938271
}

func ExampleClient_VerifyWith() {
	service := newService(verifyPath, "200 more")
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	known := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) // when the customer gave us the number
	v, err := c.VerifyWith(context.Background(), "lp_live_ExampleKeyExampleKeyExampleKey0000000", "+2348031234567",
		client.VerifyOptions{Since: known, Signals: true, Coverage: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	if v.ChangedSince != client.ChangedNo { // unknown is not a no
		fmt.Println("changed:", v.ChangedSince, v.Changes)
	}
	for _, s := range v.Signals {
		fmt.Println(s.Status, "since", s.Since.Format(time.DateOnly), "by", s.Source)
	}
	fmt.Println("reported through", v.Coverage.SuppliedThrough.Format(time.DateTime))
	// Output:
	// changed: yes [SIM]
	// SWAPPED since 2026-11-12 by OPERATOR
	// reported through 2026-11-14 06:00:00
}

func ExampleClient_Token() {
	service := newService()
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	token, err := c.Token(context.Background(), client.Credentials{
		ID:     "01a1d964-6e3b-7b02-9d11-2c7e5a90f3b4",
		Secret: "lp_sec_ExampleSecretExampleSecret012345000000",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(token.Scopes, token.AccessToken)
	fmt.Println("for", time.Until(token.ExpiresAt).Round(time.Hour))
	// Output:
	// [entity:onboard document:upload] [secret]
	// for 1h0m0s
}

func ExampleClient_Onboard() {
	service := newService()
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	ctx := context.Background()
	token, err := c.Token(ctx, client.Credentials{
		ID:     "01a1d964-6e3b-7b02-9d11-2c7e5a90f3b4",
		Secret: "lp_sec_ExampleSecretExampleSecret012345000000",
		Scopes: []string{client.ScopeOnboard, client.ScopeUpload},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	entity, err := c.Onboard(ctx, token.AccessToken, client.Application{
		CAC:              "RC1234567",
		Name:             "Savanna Mobile Limited",
		DocumentRequired: true,
		AdminName:        "Amina Bello",
		AdminPhone:       "+2348031234567",
		AdminEmail:       "amina.bello@savanna.example",
		AdminPassword:    "three quiet herons",
		IdempotencyKey:   "application-17", // the same after a crash: nothing is created twice
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(entity.Name, "is", entity.Status)
	fmt.Println(entity.Message)
	// Output:
	// Savanna Mobile Limited is Approved
	// The entity is registered and approved. Upload its documents next.
}

func ExampleClient_Onboard_taken() {
	service := newService(onboardPath, "409 taken")
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	_, err := c.Onboard(context.Background(), "lp_tok_ExampleTokenExampleTokenExample0000000", client.Application{
		CAC: "RC1234567", Name: "Savanna Mobile Limited",
		AdminName: "Amina Bello", AdminPhone: "+2348031234567", AdminEmail: "amina.bello@savanna.example",
		AdminPassword: "three quiet herons",
	})
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code == client.CodeAlreadyExists {
		fmt.Println(e.Message)
	}
	// Output:
	// The admin's e-mail address or phone number already belongs to an account. If you are repeating a request because its response was lost, the first one may have succeeded: log in to find out. Otherwise use another address and another number. Send an Idempotency-Key to make repeating a request safe.
}

func ExampleClient_UploadDocument() {
	service := newService()
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	file := strings.NewReader("%PDF-1.7 …") // or what os.Open returns
	id, err := c.UploadDocument(context.Background(), "lp_ses_ExampleSessionExampleSession0000000000", client.Document{
		Type:     client.DocumentCACCertificate,
		FileName: "certificate.pdf",
		Content:  file,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id)
	// Output: 01a1d964-6e3b-7e07-b6d5-4f3e2d1c0b9a
}

func ExampleClient_Login() {
	service := newService()
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	session, err := c.Login(context.Background(), client.LoginRequest{
		Email:    "amina.bello@savanna.example",
		Password: "three quiet herons",
	})
	if client.CodeOf(err) == client.CodeSecondFactorRequired {
		fmt.Println("ask for the code, and log in again with OTP")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.FullName, "is logged in until", session.ExpiresAt)
	// Output: Amina Bello is logged in until 2026-11-14 17:30:00.123 +0000 UTC
}

func ExampleCodeOf() {
	service := newService(verifyPath, "422 elsewhere")
	defer service.Close()

	c := &client.Client{BaseURL: service.URL}
	_, err := c.Verify(context.Background(), "lp_live_ExampleKeyExampleKeyExampleKey0000000", "+442079460000")
	if client.CodeOf(err) == client.CodeNotApplicable {
		fmt.Println("not a mobile number of this country")
	}
	// Output: not a mobile number of this country
}
