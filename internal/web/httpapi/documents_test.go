package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

// For every caller and every state, also future ones: only a document that is
// clean or decided can be opened, and no response contains a byte of another.
func TestOnlyCleanDocumentsCanBeOpened(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h := s.holder(t)
	shown := map[string]bool{"clean": true, "accepted": true, "rejected": true}
	for _, state := range document.States {
		id := s.moved(t, s.paper(t, h.entity, "TAX_ID"), string(state))
		for who, credential := range map[string]string{
			"owner": h.session, "administrator": s.staff(t, "administrator"), "reviewer": s.staff(t, "reviewer"), "auditor": s.staff(t, "auditor"),
		} {
			want := http.StatusConflict
			if shown[string(state)] {
				want = http.StatusOK
			}
			res := s.do(t, get(documentsPath+"/"+id+"/content", credential))
			if res.Code != want {
				t.Errorf("a document in state %s was answered to the %s with %d, want %d", state, who, res.Code, want)
			}
			if got := bytes.Contains(res.Body.Bytes(), []byte("%PDF")); got != (want == http.StatusOK) {
				t.Errorf("the answer to the %s about a document in state %s has its content: %v", who, state, got)
			}
		}
	}
}

// The uploader's file name is in no header, and what is sent is always a PDF of
// pictures, so that no file becomes a program on the reader's computer.
func TestContentIsNamedByTheService(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h := s.holder(t)
	const image = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	for content, extension := range map[string]string{
		pdf: ".pdf", image: ".pdf",
	} {
		for _, name := range []string{"invoice.pdf.exe", `a"; filename="run.bat`, "run.hta\u202efdp", "résumé.lnk"} {
			res := s.do(t, upload(h.session, part{"type", "", "TAX_ID"}, part{"file", strings.ReplaceAll(name, `"`, `\"`), content}))
			id := s.moved(t, field(t, res.Body.Bytes(), "data"), "clean")
			res = s.do(t, get(documentsPath+"/"+id+"/content", h.session))
			if got, want := res.Header().Get("Content-Disposition"), `attachment; filename="document-`+id+extension+`"`; got != want {
				t.Errorf("%q was sent as %s, want %s", name, got, want)
			}
			if strings.Contains(res.Body.String(), content[8:]) || res.Header().Get("Content-Type") != "application/pdf" {
				t.Errorf("%q was sent as %s with %d bytes", name, res.Header().Get("Content-Type"), res.Body.Len())
			}
		}
	}
}

// A file that differs from the upload, or is missing, is never served, not even
// in part.
func TestDamagedContentIsNeverServed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h, ctx := s.holder(t), t.Context()
	for name, instead := range map[string]string{"changed": strings.Replace(pdf, "1.4", "1.5", 1), "cut": pdf[:len(pdf)-1], "longer": pdf + "\n", "gone": ""} {
		id := s.moved(t, s.paper(t, h.entity, "TAX_ID"), "accepted")
		if err := s.Documents.Files.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
		if instead != "" {
			must(s.Documents.Files.Put(ctx, id, strings.NewReader(instead)))(t)
		}
		res := s.do(t, get(documentsPath+"/"+id+"/content", h.session))
		if res.Code != http.StatusInternalServerError || strings.Contains(res.Body.String(), "PDF") {
			t.Errorf("a file that is %s was answered with %d: %s", name, res.Code, res.Body)
		}
	}
}

// Opening a document is in the audit trail, with the account and the request; a
// refused attempt is not.
func TestOpeningADocumentIsAudited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h := s.holder(t)
	clean, waiting := s.moved(t, s.paper(t, h.entity, "TAX_ID"), "clean"), s.paper(t, h.entity, "ADMIN_ID")
	staff := s.staff(t, "auditor")
	opened := s.do(t, get(documentsPath+"/"+clean+"/content", staff))
	s.do(t, get(documentsPath+"/"+waiting+"/content", staff))
	s.do(t, get(documentsPath+"/"+clean, staff))
	var subject, request string
	var n int
	err := s.pool.QueryRow(t.Context(), `SELECT count(*), min(subject_id::text), min(request_id::text) FROM audit WHERE action = $1`, audit.DocumentOpened).Scan(&n, &subject, &request)
	if err != nil || n != 1 || subject != clean || request != opened.Header().Get("X-Request-Id") {
		t.Errorf("%d openings, of %s by the request %s (%v)", n, subject, request, err)
	}
}

// Following next reads a long list completely: every document once, in order,
// also while others are uploaded.
func TestDocumentsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h := s.holder(t)
	var want []string
	for range 7 {
		want = append(want, s.moved(t, s.paper(t, h.entity, "TAX_ID"), "clean"))
	}
	for name, list := range map[string]struct {
		query, credential string
		newest            bool
	}{
		"owner": {"?limit=3", h.session, true},
		"queue": {"?limit=3", s.staff(t, "reviewer"), false},
	} {
		var got []string
		for cursor := ""; ; {
			res := s.do(t, get(documentsPath+list.query+cursor, list.credential))
			var page struct {
				Data struct {
					Documents []struct{ DocumentID string }
					Next      *string
				}
			}
			if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil || res.Code != http.StatusOK {
				t.Fatalf("%s: answered %d: %s", name, res.Code, res.Body)
			}
			for _, d := range page.Data.Documents {
				got = append(got, d.DocumentID)
			}
			if page.Data.Next == nil {
				break
			}
			if list.newest {
				s.paper(t, h.entity, "ADMIN_ID")
			}
			cursor = "&cursor=" + *page.Data.Next
		}
		for i := range want {
			at := i
			if list.newest {
				at = len(want) - 1 - i
			}
			if len(got) != len(want) || got[i] != want[at] {
				t.Fatalf("%s: %d documents, want %d; number %d is another", name, len(got), len(want), i)
			}
		}
	}
}

// Over a real connection the pictures arrive whole, with their length and their digest.
func TestContentArrivesOverTheWire(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h := s.holder(t)
	srv := httptest.NewServer(s.handler)
	t.Cleanup(srv.Close)
	large := pdf + strings.Repeat("x", 900<<10)
	res := s.do(t, upload(h.session, part{"type", "", "TAX_ID"}, part{"file", "a.pdf", large}))
	id := s.moved(t, field(t, res.Body.Bytes(), "data"), "clean")
	r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+documentsPath+"/"+id+"/content", http.NoBody))(t)
	r.Header.Set("Authorization", "Bearer "+h.session)
	answer, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	got := must(io.ReadAll(answer.Body))(t)
	sum := sha256.Sum256(got)
	if digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"; answer.Header.Get("Content-Digest") != digest || answer.ContentLength != int64(len(got)) {
		t.Errorf("%d bytes arrived of %d announced", len(got), answer.ContentLength)
	}
}
