package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/lineproof/lineproof/client"
)

// No way of printing a value shows its secret.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()

	const canary = "canary-4711"
	for _, v := range []any{
		client.Secret(canary),
		client.Credentials{Secret: canary},
		client.Token{AccessToken: canary},
		&client.Token{AccessToken: canary},
		client.Session{Token: canary},
		client.LoginRequest{Password: canary, OTP: canary},
		client.Application{AdminPassword: canary},
	} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb, v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).LogAttrs(t.Context(), slog.LevelInfo, "m", slog.Any("v", v))
		slog.New(slog.NewJSONHandler(&out, nil)).LogAttrs(t.Context(), slog.LevelInfo, "m", slog.Any("v", v))
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Error(err)
		}
		if text := out.String(); strings.Contains(text, canary) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", canary)) || !strings.Contains(text, "[secret]") {
			t.Errorf("%T prints as %s", v, text)
		}
	}
}

// No error repeats what was sent, whatever the server responds and however the
// request fails.
func TestErrorsDoNotRepeatWhatWasSent(t *testing.T) {
	t.Parallel()

	everything := strings.Join([]string{clientSecret, accessToken, apiKey, password, otp, email, phoneNumber}, " ")
	for _, a := range []answer{
		{name: "an echo with a refusal", status: 400, body: everything},
		{name: "an echo in a page", status: 502, body: "<html>" + everything},
		{name: "an echo in JSON of another form", status: 403, body: `{"data":"` + everything + `","error":"` + everything + `"}`},
		{name: "an echo with a success", status: 200, body: everything},
		{name: "a success of another type", status: 200, body: `{"data":["` + everything + `"],"expires_in":"` + everything + `"}`},
		{name: "a time that is none", status: 200, body: `{"data":{"verificationTimestamp":"` + everything + `","tokenMeta":{"expiration":"` + everything + `"}},"access_token":3}`},
		{name: "an answer about another number", status: 200, body: strings.ReplaceAll(example(verifyPath, "200 normal").body, phoneNumber, "+2348030000000")},
		{name: "an echo as an address", status: 302, header: http.Header{"Location": {"https://elsewhere.example/?" + everything}}},
		{name: "no connection", err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}},
	} {
		for path, call := range calls {
			t.Run(a.name+" "+path, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					checkSilent(t, call(t.Context(), (&service{answers: []answer{a}}).client()))
				})
			})
		}
	}
}

func checkSilent(t *testing.T, err error) {
	t.Helper()

	if err == nil {
		t.Fatal("there is no error")
	}
	for _, sent := range []string{clientSecret, accessToken, apiKey, password, otp, email, phoneNumber, "+2348030000000"} {
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, err)} {
			if strings.Contains(text, sent) {
				t.Errorf("the error repeats what was sent: %s", text)
			}
		}
	}
}

// Values that cannot be sent are refused before anything is sent, and the error
// does not repeat them.
func TestWhatCannotBeSent(t *testing.T) {
	t.Parallel()

	for name, call := range map[string]func(ctx context.Context, c *client.Client) error{
		"no address": func(ctx context.Context, c *client.Client) error { c.BaseURL = ""; return calls[verifyPath](ctx, c) },
		"another scheme": func(ctx context.Context, c *client.Client) error {
			c.BaseURL = "ftp://lineproof.example"
			return calls[verifyPath](ctx, c)
		},
		"an address with a password": func(ctx context.Context, c *client.Client) error {
			c.BaseURL = "https://user:" + apiKey + "@lineproof.example"
			return calls[verifyPath](ctx, c)
		},
		"an address that is none": func(ctx context.Context, c *client.Client) error {
			c.BaseURL = "https://" + apiKey + "\x7f"
			return calls[verifyPath](ctx, c)
		},
		"no credential": func(ctx context.Context, c *client.Client) error {
			_, err := c.Verify(ctx, "", phoneNumber)
			return err
		},
		"a line break after the credential": func(ctx context.Context, c *client.Client) error {
			_, err := c.Verify(ctx, apiKey+"\n", phoneNumber)
			return err
		},
		"a key that is no header": func(ctx context.Context, c *client.Client) error {
			_, err := c.Onboard(ctx, accessToken, client.Application{IdempotencyKey: password + "\n"})
			return err
		},
		"a name that is no header": func(ctx context.Context, c *client.Client) error {
			c.Correlator = func(context.Context) string { return email + "\r\n" }
			return calls[verifyPath](ctx, c)
		},
		"a password that JSON would change": func(ctx context.Context, c *client.Client) error {
			_, err := c.Login(ctx, client.LoginRequest{Email: email, Password: password + "\xff"})
			return err
		},
		"no client secret": func(ctx context.Context, c *client.Client) error {
			_, err := c.Token(ctx, client.Credentials{ID: "01a1"})
			return err
		},
		"no content": func(ctx context.Context, c *client.Client) error {
			_, err := c.UploadDocument(ctx, accessToken, client.Document{Type: "OTHER"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &service{answers: []answer{{status: 200}}}
			checkSilent(t, call(t.Context(), s.client()))
			if len(s.asked) > 0 {
				t.Errorf("%d requests were sent", len(s.asked))
			}
		})
	}
}
