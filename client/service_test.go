package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/client"
)

// The paths of the contract.
const (
	tokenPath   = "/api/auth/token"
	onboardPath = "/api/regulator/v1/onboard-entity"
	uploadPath  = "/api/regulator/v1/upload-document"
	loginPath   = "/api/regulator/v1/login"
	verifyPath  = "/api/v1/phone/api/phone-numbers/verify"
)

// Values that the tests send and that must not be in any error.
const (
	clientSecret = "lp_sec_ExampleSecretExampleSecret012345000000"
	accessToken  = "lp_tok_ExampleTokenExampleTokenExample0000000"
	apiKey       = "lp_live_ExampleKeyExampleKeyExampleKey0000000"
	password     = "three quiet herons"
	otp          = "287082"
	email        = "amina.bello@savanna.example"
	phoneNumber  = "+2348031234567"
)

// calls has one call of each operation, by its path.
var calls = map[string]func(ctx context.Context, c *client.Client) error{
	tokenPath: func(ctx context.Context, c *client.Client) error {
		_, err := c.Token(ctx, client.Credentials{ID: "01a1d964-6e3b-7b02-9d11-2c7e5a90f3b4", Secret: clientSecret, Scopes: []string{client.ScopeOnboard}})
		return err
	},
	onboardPath: func(ctx context.Context, c *client.Client) error {
		_, err := c.Onboard(ctx, accessToken, client.Application{
			CAC: "RC1234567", Name: "Savanna Mobile Limited", DocumentRequired: true,
			AdminName: "Amina Bello", AdminPhone: phoneNumber, AdminEmail: email, AdminPassword: password,
		})
		return err
	},
	uploadPath: func(ctx context.Context, c *client.Client) error {
		_, err := c.UploadDocument(ctx, accessToken, client.Document{Type: client.DocumentTaxID, Content: strings.NewReader("%PDF-1.7")})
		return err
	},
	loginPath: func(ctx context.Context, c *client.Client) error {
		_, err := c.Login(ctx, client.LoginRequest{Email: email, Password: password, OTP: otp})
		return err
	},
	verifyPath: func(ctx context.Context, c *client.Client) error {
		_, err := c.Verify(ctx, apiKey, phoneNumber)
		return err
	},
	"/api/v1/jobs": func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateJob(ctx, apiKey, client.NewJob{Name: "customers"})
		return err
	},
	"/api/v1/watch-lists": func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateWatchList(ctx, apiKey, client.NewWatchList{Name: "customers"})
		return err
	},
	"/api/v1/feed/acknowledgements": func(ctx context.Context, c *client.Client) error {
		_, err := c.AcknowledgeNotices(ctx, apiKey, "1-1048577", "1-1048580")
		return err
	},
}

// contract is the service's published contract.
var contract = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		panic(err)
	}
	return doc
})

// answer is a response of the service: an example of the contract, or none.
type answer struct {
	name   string
	status int
	header http.Header
	body   string
	err    error // instead of an answer
}

// documented returns the examples of one operation, with the headers that the
// contract gives them.
func documented(path string) []answer {
	var all []answer
	for text, response := range contract().Paths.Value(path).Post.Responses.Map() {
		status, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		header := http.Header{"Content-Type": {"application/json"}}
		for name, h := range response.Value.Headers {
			header.Set(name, fmt.Sprint(h.Value.Example))
		}
		for name, example := range response.Value.Content["application/json"].Examples {
			body, err := json.Marshal(example.Value.Value)
			if err != nil {
				panic(err)
			}
			all = append(all, answer{name: text + " " + name, status: status, header: header, body: string(body)})
		}
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Compare(a.name, b.name) })
	return all
}

// example returns one example of the contract by its status and name.
func example(path, name string) answer {
	all := documented(path)
	i := slices.IndexFunc(all, func(a answer) bool { return a.name == name })
	if i < 0 {
		panic("the contract has no example " + name + " for " + path)
	}
	return all[i]
}

func (a answer) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// service sends its responses in turn, repeats the last one, and records when
// requests arrived. It is a transport, so that tests can use a fake clock.
type service struct {
	answers []answer

	mu      sync.Mutex
	asked   []time.Time
	headers []http.Header
	bodies  []string
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	a := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, time.Now())
	s.headers = append(s.headers, req.Header)
	s.bodies = append(s.bodies, string(body))
	if a.err != nil {
		return nil, a.err
	}
	header := a.header
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: &answerBody{Reader: strings.NewReader(a.body)}, Request: req}, nil
}

// answerBody breaks off at the configured place.
type answerBody struct{ *strings.Reader }

const brokenOff = "<broken off>"

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if text, broken := strings.CutSuffix(string(p[:n]), brokenOff); broken {
		return len(text), io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *answerBody) Close() error { return nil }

func (s *service) client() *client.Client {
	return &client.Client{BaseURL: "https://lineproof.example", HTTP: &http.Client{Transport: s}}
}

// pauses are the times between one request and the next.
func (s *service) pauses() []time.Duration {
	var all []time.Duration
	for i := 1; i < len(s.asked); i++ {
		all = append(all, s.asked[i].Sub(s.asked[i-1]))
	}
	return all
}

func later(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }

func coded(code client.Code) string {
	return `{"status":"Error","data":{"code":"` + string(code) + `","message":"No.","violations":[],"requestId":"r"},"statusCode":"0"}`
}

// refused returns the Error in err's tree.
func refused(t *testing.T, err error) *client.Error {
	t.Helper()

	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		t.Fatalf("got %v, want a refusal of the service", err)
	}
	return e
}
