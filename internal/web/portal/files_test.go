package portal_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/answer/filejob"
)

// fileKey creates a test key of the bank that may send files.
func (s *stack) fileKey(t testing.TB) uuid.UUID {
	t.Helper()
	return must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "payroll", Mode: access.Test, Rights: []string{"jobs"}}, access.Operator, uuid.Nil))(t).ID
}

// newFile creates a job of the bank that waits for its file.
func newFile(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	return must(s.jobs.Create(t.Context(), filejob.Owner{Entity: s.bank.ID, Mode: access.Test}, s.fileKey(t), "payroll", filejob.By{Actor: access.Operator}))(t).ID
}

// sendNumbers sends the form of the page about files.
func (s *stack) sendNumbers(t testing.TB, who visitor, key, fileName, content string) *httptest.ResponseRecorder {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, field := range [][2]string{{"key", key}, {"name", "May"}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			t.Fatal(err)
		}
	}
	must(io.WriteString(must(form.CreateFormFile("file", fileName))(t), content))(t)
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := withBody(newRequest(http.MethodPost, "/portal/files", who.session, nil), b.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return s.do(t, r)
}

// An admin sends a file under a key that may, sees its progress and downloads the result;
// a member sees it too and can send nothing.
func TestFileFromUploadToResult(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.as(t, "admin"), s.as(t, "member")
	wantPage(t, s.get(t, "/portal/files", admin.session), http.StatusOK, "No key may send files", "/portal/new-key")
	key := s.fileKey(t).String()
	wantPage(t, s.get(t, "/portal/files", admin.session), http.StatusOK, "payroll (Test)", "Send file")
	if body := s.get(t, "/portal/files", member.session).Body.String(); strings.Contains(body, "Send file") || !strings.Contains(body, "No files yet") {
		t.Error("a member can send files, or does not see the list")
	}
	wantPage(t, s.sendNumbers(t, admin, uuid.NewString(), "numbers.csv", "number\n"), http.StatusUnprocessableEntity, `id="error-key"`)
	wantPage(t, s.sendNumbers(t, admin, key, "", ""), http.StatusUnprocessableEntity, `id="error-file"`)

	res := s.sendNumbers(t, admin, key, "numbers.csv", "number\n"+testNumber+"\nnobody\n")
	page := res.Header().Get("Location")
	if res.Code != http.StatusSeeOther || !strings.HasPrefix(page, "/portal/files/") {
		t.Fatalf("the upload: %d %s", res.Code, res.Body)
	}
	wantPage(t, s.get(t, page, admin.session), http.StatusOK, "May", "Checking", "Cancel job")
	wantPage(t, s.get(t, page+"/result.csv", member.session), http.StatusConflict)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.jobs.Run(ctx, slog.New(slog.DiscardHandler))
	for start := time.Now(); !strings.Contains(s.get(t, page+"/progress", admin.session).Body.String(), "Download result"); {
		if time.Since(start) > 20*time.Second {
			t.Fatal("there is no result after 20 seconds")
		}
		<-time.After(20 * time.Millisecond)
	}
	wantPage(t, s.get(t, page, member.session), http.StatusOK, "Done", "Download result as CSV")
	wantPage(t, s.get(t, page+"/result.csv", member.session), http.StatusOK, "line,phoneNumber", "NORMAL", "BAD_FORMAT")

	waits := "/portal/files/" + newFile(t, s).String()
	wantPage(t, s.get(t, waits+"/cancel", admin.session), http.StatusOK, "There will be no result")
	wantGo(t, s.post(t, waits+"/cancel", admin.session, url.Values{}), waits)
	wantPage(t, s.get(t, waits, admin.session), http.StatusOK, "Cancelled")
}

// A key that may be used from some networks only takes a file from the portal only from these.
func TestFileHonoursTheNetworksOfItsKey(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	s.fileKey(t)
	form := access.KeyForm{Entity: s.bank.ID, Name: "elsewhere", Mode: access.Test, Rights: []string{"jobs"}, Networks: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}
	key := must(s.Access.CreateKey(t.Context(), form, access.Operator, uuid.Nil))(t).ID.String()
	if body := s.get(t, "/portal/files", admin.session).Body.String(); strings.Contains(body, "elsewhere (Test)") {
		t.Error("a key of another network is offered")
	}
	wantPage(t, s.sendNumbers(t, admin, key, "numbers.csv", "number\n"+testNumber+"\n"), http.StatusUnprocessableEntity, `id="error-key"`, "from your network")
}
