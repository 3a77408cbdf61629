package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The server metadata tells clients where to send their secrets, so no part of it is what a request says about the
// host: it is the public address or, on a machine for tests, the address of the listener.
func TestMetadataIgnoresTheHostOfTheRequest(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"", "https://lineproof.example"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := (&API{PublicURL: public}).showMetadata(w, r); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		want := server.URL
		if public != "" {
			want = public
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "evil.example"
		req.Header.Set("X-Forwarded-Host", "evil.example")
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var got metadata
		err = json.NewDecoder(res.Body).Decode(&got)
		_ = res.Body.Close()
		if err != nil || got.Issuer != want || got.TokenEndpoint != want+tokenPath || got.RevocationEndpoint != want+revokePath {
			t.Errorf("with the public address %q: %+v, %v", public, got, err)
		}
	}
}
