package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The five operations of the specification work in its order, over HTTP, with its bodies
// written out, for an admin with nothing but a password: no second factor, no confirmed
// address, no other step in between.
func TestFiveOperationsOfTheSpecification(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	srv := httptest.NewServer(s.handler)
	t.Cleanup(srv.Close)
	send := func(path, bearer, contentType, body string, data any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		res, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text := must(io.ReadAll(res.Body))(t)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s answered %d: %s", path, res.StatusCode, text)
		}
		if path == "/api/auth/token" { // as OAuth 2.0 has it
			text = []byte(`{"status":"Success","statusCode":"200","data":` + string(text) + `}`)
		}
		envelope := struct {
			Status, StatusCode string
			Data               any
		}{Data: data}
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&envelope); err != nil || envelope.Status != "Success" || envelope.StatusCode != strconv.Itoa(http.StatusOK) {
			t.Fatalf("%s: %v in %s", path, err, text)
		}
	}
	const inJSON = "application/json"
	var token struct {
		AccessToken string `json:"access_token"`
	}
	send("/api/auth/token", "", "application/x-www-form-urlencoded",
		"grant_type=client_credentials&client_id="+s.client.ID.String()+"&client_secret="+url.QueryEscape(s.client.Secret.Reveal()), &token)

	var onboarded struct {
		EntityUID, EntityName, CacNo, EntityStatus, AdminUID, AdminEmail string
		IsDocumentRequired                                               bool
	}
	send("/api/regulator/v1/onboard-entity", token.AccessToken, inJSON, `{
		"cac": "RC123456",
		"name": "Harmattan Telecom",
		"isDocumentRequired": true,
		"adminName": "Ada Obi",
		"adminPhone": "08031234567",
		"adminEmail": "ada@harmattan.example",
		"adminPassword": "harmattan-38-dust"
	}`, &onboarded)
	if onboarded.EntityStatus != "Approved" || onboarded.EntityName != "Harmattan Telecom" || onboarded.CacNo != "RC123456" || onboarded.AdminEmail != "ada@harmattan.example" || !onboarded.IsDocumentRequired {
		t.Errorf("onboarding answered %+v", onboarded)
	}

	var session struct {
		FullName, UserType string
		TokenMeta          struct{ Token, Expiration string }
	}
	send("/api/regulator/v1/login", "", inJSON, `{"email":"ada@harmattan.example","password":"harmattan-38-dust"}`, &session)
	if session.FullName != "Ada Obi" || session.UserType != "REGULATOR" || !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(session.TokenMeta.Expiration) {
		t.Errorf("login answered %+v", session)
	}

	form := "--x\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\nCAC_CERTIFICATE\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cac.pdf\"\r\nContent-Type: application/pdf\r\n\r\n" + pdf + "\r\n--x--\r\n"
	for _, bearer := range []string{session.TokenMeta.Token, token.AccessToken} {
		var document string
		if send("/api/regulator/v1/upload-document", bearer, "multipart/form-data; boundary=x", form, &document); document == "" {
			t.Error("the upload answered with nothing")
		}
	}

	var verified struct{ PhoneNumber, Status, RequestID, MobileNetwork, VerificationTimestamp string }
	send("/api/v1/phone/api/phone-numbers/verify", s.key, inJSON, `{"phoneNumber":"08031234567"}`, &verified)
	if verified.PhoneNumber != "08031234567" || verified.Status != "NORMAL" || verified.MobileNetwork != "MTN" || len(verified.RequestID) != 36 || verified.VerificationTimestamp == "" {
		t.Errorf("verify answered %+v", verified)
	}
}
