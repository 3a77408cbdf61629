package client_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/lineproof/lineproof/client"
)

const documentID = "01a1d964-6e3b-7e07-b6d5-4f3e2d1c0b9a"

// documentCalls has one call of each operation on documents but the upload, by
// method and path.
var documentCalls = map[string]func(ctx context.Context, c *client.Client) error{
	"GET /api/regulator/v1/documents": func(ctx context.Context, c *client.Client) error {
		_, err := c.Documents(ctx, accessToken, client.DocumentsQuery{
			EntityUID: importID, States: []string{client.DocumentRefused, client.DocumentRejected}, Type: client.DocumentTaxID, Cursor: "x", Limit: 5,
		})
		return err
	},
	"GET /api/regulator/v1/documents/{documentId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Document(ctx, accessToken, documentID)
		return err
	},
	"GET /api/regulator/v1/documents/{documentId}/content": func(ctx context.Context, c *client.Client) error {
		return c.DocumentContent(ctx, accessToken, documentID, io.Discard)
	},
	"POST /api/regulator/v1/documents/{documentId}/review": func(ctx context.Context, c *client.Client) error {
		_, err := c.ReviewDocument(ctx, accessToken, documentID, false, "The stamp cannot be read.")
		return err
	},
}

// A file that does not match its digest is an error, whatever its length; so is
// one without a digest, and nothing of it is written.
func TestContentThatDoesNotMatchItsDigestIsAnError(t *testing.T) {
	t.Parallel()

	const digest = "sha-256=:ZNAY2yK4kCqC4xeTlvuV6kxuvt207Gu666OwYCkDcvI=:" // of the first
	for name, tc := range map[string]struct {
		body, digest string
		whole        bool
	}{
		"whole":         {"%PDF-1.7 …", digest, true},
		"changed":       {"%PDF-1.6 …", digest, false},
		"cut":           {"%PDF-1.7", digest, false},
		"broken digest": {"%PDF-1.7 …", "sha-256=:ZNAY:", false},
		"no digest":     {"%PDF-1.7 …", "", false},
	} {
		s := &service{answers: []answer{{status: http.StatusOK, header: http.Header{"Content-Digest": {tc.digest}}, body: tc.body}}}
		var got bytes.Buffer
		err := s.client().DocumentContent(t.Context(), accessToken, documentID, &got)
		if (err == nil) != tc.whole || len(s.asked) != 1 {
			t.Errorf("%s: the error is %v after %d requests", name, err, len(s.asked))
		}
		if tc.whole && got.String() != tc.body || name == "no digest" && got.Len() > 0 {
			t.Errorf("%s: %q was written", name, got.String())
		}
	}
}

// The fields of a query that are not set are not sent: the service would read an
// empty one as a value.
func TestQueryOfDocumentsSendsWhatIsSet(t *testing.T) {
	t.Parallel()

	for want, q := range map[string]client.DocumentsQuery{
		"":                      {},
		"limit=7":               {Limit: 7},
		"state=clean%2Cdeleted": {States: []string{client.DocumentClean, client.DocumentDeleted}},
	} {
		c := serve(t, func(r *http.Request) answer {
			if r.URL.RawQuery != want {
				t.Errorf("the query is %q, want %q", r.URL.RawQuery, want)
			}
			return answer{status: http.StatusOK, body: `{"data":{"documents":[],"next":null}}`}
		})
		list, err := c.Documents(t.Context(), accessToken, q)
		if err != nil || len(list.Documents) != 0 || list.Next != "" {
			t.Errorf("got %+v and %v", list, err)
		}
	}
}
