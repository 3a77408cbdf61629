package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// A caller who does exactly what the specification shows is never refused: its
// field names, a Bearer header on every request, parts of the upload in either
// order, several entities with one token, unknown document types, passwords of
// 8 characters, CAC numbers of any plausible form.
func TestLiteralReaderOfTheSpecificationIsNeverRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	token := s.token(t)
	cacs := []string{
		"RC123456", "RC-123456", "RC 123456", "rc123456", "RC/123456", "123456", "0123456", "BN 2345678", "BN-2345678", "IT/45678", "CAC/IT/NO 12345",
		"LP 12", "LLP-99", "AB123456", "RC1", "12345678", "CAC-2024-00123", "A", "7", "RC123456/2019",
	}
	types := []string{"CAC", "cac_certificate", "Certificate of incorporation", "licence", "NIN slip", "passport", "ID", "1", "Betriebserlaubnis für Netze", "OTHER"}
	passwords := []string{"Xk29vbq!", "eightchr", "  8spaces", "пароль-сильный", "a longer sentence of words", "Tr0ub4dor"}
	for i, number := range cacs {
		email, secretWord := fmt.Sprintf("admin%d@telco-%d.example", i, i), passwords[i%len(passwords)]
		body := map[string]any{
			"cac": number, "name": fmt.Sprintf("Telco %d Limited", i), "isDocumentRequired": i%2 == 0, "adminName": "Ngozi O'Neil-Àjàyí",
			"adminPhone": fmt.Sprintf("0803%07d", i), "adminEmail": email, "adminPassword": secretWord,
		}
		var onboarded struct {
			EntityName, CacNo, EntityType, EntityStatus, AdminName, AdminEmail, AdminPhone, EntityUID, AdminUID, Message string
			IsDocumentRequired, IsAdminVerified                                                                          *bool
		}
		s.literal(t, post(onboardPath, token, asJSON(t, body)), &onboarded)
		if onboarded.EntityName != body["name"] || onboarded.CacNo != number || onboarded.EntityStatus != "Approved" || onboarded.EntityType == "" ||
			onboarded.AdminEmail != email || onboarded.AdminPhone != body["adminPhone"] || onboarded.AdminName != body["adminName"] ||
			len(onboarded.EntityUID) != 36 || len(onboarded.AdminUID) != 36 || onboarded.Message == "" ||
			onboarded.IsDocumentRequired == nil || *onboarded.IsDocumentRequired != body["isDocumentRequired"] || onboarded.IsAdminVerified == nil {
			t.Errorf("onboarding %q echoed %+v", number, onboarded)
		}

		parts := []part{{"type", "", types[i%len(types)]}, {"file", "scan.pdf", pdf}}
		if i%2 == 1 {
			parts[0], parts[1] = parts[1], parts[0]
		}
		var document string
		s.literal(t, upload(token, parts...), &document)

		var session struct {
			FullName, UserType string
			TokenMeta          struct{ Token, Expiration string }
			IsVerified         *bool
		}
		s.literal(t, post(loginPath, token, asJSON(t, map[string]any{"email": email, "password": secretWord})), &session)
		if session.FullName != body["adminName"] || session.UserType != "REGULATOR" || session.IsVerified == nil {
			t.Errorf("login answered %+v", session)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", session.TokenMeta.Expiration); err != nil {
			t.Errorf("expiration: %v", err)
		}
		s.literal(t, upload(session.TokenMeta.Token, parts...), &document)
	}
	var result struct{ PhoneNumber, Status, RequestID, MobileNetwork, VerificationTimestamp string }
	s.literal(t, post(verifyPath, s.key, `{"phoneNumber":"08031234567"}`), &result)
	if result.PhoneNumber != "08031234567" || result.Status != "NORMAL" || result.MobileNetwork != "MTN" || len(result.RequestID) != 36 {
		t.Errorf("verify answered %+v", result)
	}
}

// literal sends a request and reads the envelope as in the specification.
func (s *stack) literal(t *testing.T, r *http.Request, data any) {
	t.Helper()
	res := s.do(t, r)
	var envelope struct {
		Status, StatusCode string
		Data               json.RawMessage
	}
	if err := json.Unmarshal(res.Body.Bytes(), &envelope); err != nil {
		t.Fatalf("%s: %v in %s", r.URL.Path, err, res.Body)
	}
	if res.Code != http.StatusOK || envelope.StatusCode != strconv.Itoa(http.StatusOK) || envelope.Status != "Success" {
		t.Fatalf("%s answered %d: %s", r.URL.Path, res.Code, res.Body)
	}
	if err := json.Unmarshal(envelope.Data, data); err != nil {
		t.Fatalf("%s: data: %v in %s", r.URL.Path, err, res.Body)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(must(json.Marshal(v))(t))
}

// Go's own OAuth client gets its token and uses it, unchanged.
func TestStandardOAuthClientWorksUnchanged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	srv := httptest.NewServer(s.handler)
	t.Cleanup(srv.Close)
	for name, style := range map[string]oauth2.AuthStyle{"by header": oauth2.AuthStyleInHeader, "in the body": oauth2.AuthStyleInParams, "found out": oauth2.AuthStyleAutoDetect} {
		cfg := &clientcredentials.Config{
			ClientID: s.client.ID.String(), ClientSecret: s.client.Secret.Reveal(), TokenURL: srv.URL + tokenPath,
			Scopes: []string{"entity:onboard"}, AuthStyle: style,
		}
		token, err := cfg.Token(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !token.Valid() || token.Type() != "Bearer" || time.Until(token.Expiry) < 59*time.Minute {
			t.Errorf("%s: token of type %s until %s", name, token.Type(), token.Expiry)
		}
		res, err := cfg.Client(t.Context()).Do(outgoing(t.Context(), srv.URL))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest { // let in, and told what is missing
			t.Errorf("%s: onboarding with its token answered %d", name, res.StatusCode)
		}
	}
	wrong := &clientcredentials.Config{ClientID: s.client.ID.String(), ClientSecret: "wrong", TokenURL: srv.URL + tokenPath}
	_, err := wrong.Token(t.Context())
	if err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("a wrong secret gave %v, want invalid_client", err)
	}
}

func outgoing(ctx context.Context, base string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+onboardPath, strings.NewReader(`{}`))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}
