package portal_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/regulator/document"
)

const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

func withBody(r *http.Request, body string) *http.Request {
	fresh := httptest.NewRequestWithContext(context.Background(), r.Method, r.URL.String(), strings.NewReader(body))
	fresh.Header = r.Header
	return fresh
}

// upload sends the form of the documents page.
func (s *stack) upload(t testing.TB, who visitor, kind, fileName, content string) *httptest.ResponseRecorder {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	if err := form.WriteField("type", kind); err != nil {
		t.Fatal(err)
	}
	part := must(form.CreateFormFile("file", fileName))(t)
	must(io.WriteString(part, content))(t)
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := withBody(newRequest(http.MethodPost, "/portal/documents", who.session, nil), b.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return s.do(t, r)
}

// uploaded uploads a document and returns its id.
func (s *stack) uploaded(t testing.TB, who visitor, fileName, kind string) string {
	t.Helper()
	wantGo(t, s.upload(t, who, kind, fileName, pdf), "/portal/documents")
	var id string
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM document ORDER BY created_at DESC LIMIT 1`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// moved takes a document through states, as scanner and reviewers would.
func (s *stack) moved(t testing.TB, id, note string, states ...string) {
	t.Helper()
	for i := 1; i < len(states); i++ {
		must(s.pool.Exec(t.Context(), `INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, reason, note) VALUES ($1, $2, now(), $3, $4, 'system', '', $5)`,
			id, i, states[i-1], states[i], note))(t)
		must(s.pool.Exec(t.Context(), `UPDATE document SET state = $2, moved_at = now(), note = $3 WHERE id = $1`, id, states[i], note))(t)
	}
}

// A person sees which documents are missing, submits one, follows its state and
// downloads pictures of its pages.
func TestDocumentsAreSubmittedAndTracked(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	must(s.pool.Exec(t.Context(), `UPDATE entity SET document_required = true WHERE id = $1`, s.bank.ID))(t)
	member := s.as(t, "member")
	res := s.get(t, "/portal/documents", member.session)
	wantPage(t, res, http.StatusOK, "CAC certificate", "Missing", "No documents submitted yet", "data-upload", "1.0 MB")
	if n := strings.Count(res.Body.String(), "</span>Missing</span>"); n != 2 {
		t.Errorf("%d documents are missing, want 2", n)
	}
	id := s.uploaded(t, member, "certificate.pdf", "CAC_CERTIFICATE")
	wantPage(t, s.get(t, "/portal/documents", member.session), http.StatusOK, "certificate.pdf", "Received", "Waiting for a decision")
	wantPage(t, s.get(t, "/portal/documents/"+id+"/content", member.session), http.StatusConflict, "waiting for its virus scan")
	s.moved(t, id, "The stamp cannot be read.", "received", "scanning", "clean", "rejected")
	wantPage(t, s.get(t, "/portal/documents/"+id, member.session), http.StatusOK, "Uploaded, by your organisation", "Rejected", "The stamp cannot be read.", "Send another")
	wantPage(t, s.get(t, "/portal/documents", member.session), http.StatusOK, "Rejected: send another")
	file := s.get(t, "/portal/documents/"+id+"/content", member.session)
	h := file.Header()
	if !strings.HasPrefix(file.Body.String(), "%PDF-1.4\n3 0 obj\n<</Type/XObject/Subtype/Image") || h.Get("Content-Type") != "application/pdf" || h.Get("Content-Disposition") != `attachment; filename="document-`+id+`.pdf"` ||
		!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the file came as %v: %q", h, file.Body)
	}
}

// The errors of an upload are shown at the form, and nothing of it is stored.
func TestInvalidUploadsAreExplained(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	for name, tried := range map[string]struct {
		kind, content, want string
		status              int
	}{
		"no file":   {"TAX_ID", "", `id="error-file"`, http.StatusUnprocessableEntity},
		"no type":   {"", pdf, `id="error-type"`, http.StatusUnprocessableEntity},
		"a program": {"TAX_ID", "MZ\x90\x00" + strings.Repeat("\x00", 5000), "is not PDF", http.StatusUnsupportedMediaType},
		"too large": {"TAX_ID", pdf + strings.Repeat("x", 3<<20), "The file is too large", http.StatusRequestEntityTooLarge},
	} {
		t.Log(name)
		wantPage(t, s.upload(t, admin, tried.kind, "x.pdf", tried.content), tried.status, tried.want)
	}
	broken := withBody(newRequest(http.MethodPost, "/portal/documents", admin.session, nil), "--x\r\nnothing")
	broken.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	wantPage(t, s.do(t, broken), http.StatusUnprocessableEntity, "did not arrive completely")
	list, _, err := s.Documents.List(t.Context(), document.Filter{})
	if err != nil || len(list) != 0 {
		t.Errorf("%d documents are kept, %v", len(list), err)
	}
	page := s.upload(t, admin, "TAX_ID", "x.pdf", "").Body.String()
	if !regexp.MustCompile(`<option value="TAX_ID" selected`).MatchString(page) {
		t.Error("the form has forgotten what was chosen")
	}
}

// A document of another organisation does not exist.
func TestDocumentsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.uploaded(t, s.as(t, "admin"), "certificate.pdf", "CAC_CERTIFICATE")
	s.moved(t, id, "", "received", "scanning", "clean")
	stranger := s.as(t, "stranger")
	for _, path := range []string{"", "/content"} {
		wantPage(t, s.get(t, "/portal/documents/"+id+path, stranger.session), http.StatusNotFound)
	}
	if strings.Contains(s.get(t, "/portal/documents", stranger.session).Body.String(), "certificate.pdf") {
		t.Error("the list shows a document of another organisation")
	}
}
