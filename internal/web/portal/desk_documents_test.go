package portal_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main() // documents are drawn by a process of their own
	os.Exit(m.Run())
}

// rows counts the entries of the audit trail with an action.
func (s *stack) rows(t testing.TB, action string) (n int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = $1`, action).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// uploadedAs uploads content and returns the id of its document, which is clean.
func (s *stack) uploadedAs(t testing.TB, who visitor, fileName, content string) string {
	t.Helper()
	wantGo(t, s.upload(t, who, "CAC_CERTIFICATE", fileName, content), "/portal/documents")
	var id string
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM document ORDER BY id DESC LIMIT 1`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	s.moved(t, id, "", "received", "scanning", "clean")
	return id
}

// drawn returns a PNG of that size: red at its left, blue at its right.
func drawn(t testing.TB, width, height int) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{R: 255, A: 255}
			if x >= width/2 {
				c = color.RGBA{B: 255, A: 255}
			}
			picture.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// chunk is a part of a PNG.
func chunk(kind, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// The document that waits longest is first. A reviewer opens it and decides, and it
// leaves the queue; the organisation can read why.
func TestReviewersDecideDocuments(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, reviewer := s.as(t, "member"), s.as(t, "reviewer")
	const queue = "/portal/desk/documents"
	wantPage(t, s.get(t, queue, reviewer.session), http.StatusOK, "No documents to review")
	first, second := s.uploadedAs(t, member, "first.pdf", pdf), s.uploadedAs(t, member, "second.pdf", pdf)
	body := s.get(t, queue, reviewer.session).Body.String()
	if a, b := strings.Index(body, "first.pdf"), strings.Index(body, "second.pdf"); a < 0 || b < a || !strings.Contains(body, "Harbour Bank") {
		t.Fatalf("the queue is not the oldest first:\n%s", body)
	}
	wantPage(t, s.get(t, queue+"/"+first, reviewer.session), http.StatusOK, "first.pdf", "Uploaded", "Zainab Sule", "CAC certificate", "Accept", "/content", "SHA-256")
	file := s.get(t, queue+"/"+first+"/content", reviewer.session)
	if !strings.Contains(file.Body.String(), "/Subtype/Image") || !strings.HasPrefix(file.Header().Get("Content-Disposition"), "attachment") || file.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the file came as %v", file.Header())
	}
	if n := s.rows(t, "document.opened"); n != 1 {
		t.Errorf("%d looks are in the trail, want 1", n)
	}
	res := s.post(t, queue+"/"+first+"/review", reviewer.session, url.Values{"decision": {"rejected"}})
	wantPage(t, res, http.StatusUnprocessableEntity, `id="error-reason"`, "first.pdf")
	wantPage(t, s.post(t, queue+"/"+first+"/review", reviewer.session, url.Values{}), http.StatusUnprocessableEntity, `id="error-decision"`)
	wantGo(t, s.post(t, queue+"/"+first+"/review", reviewer.session, url.Values{"decision": {"rejected"}, "reason": {"The stamp\r\ncannot be read."}}), queue)
	wantGo(t, s.post(t, queue+"/"+second+"/review", reviewer.session, url.Values{"decision": {"accepted"}}), queue)
	wantPage(t, s.get(t, queue, reviewer.session), http.StatusOK, "No documents to review")
	wantPage(t, s.get(t, queue+"?state=rejected", reviewer.session), http.StatusOK, "first.pdf")
	wantPage(t, s.get(t, queue+"?state=any&entity="+s.bank.ID.String(), reviewer.session), http.StatusOK, "first.pdf", "second.pdf", "Showing documents of")
	wantPage(t, s.get(t, "/portal/documents/"+first, member.session), http.StatusOK, "The stamp cannot be read.")
	res = s.post(t, queue+"/"+first+"/review", reviewer.session, url.Values{"decision": {"accepted"}})
	wantPage(t, res, http.StatusConflict, "is not waiting for a decision")
	wantPage(t, s.get(t, queue+"?state=nonsense", reviewer.session), http.StatusNotFound)
}

// An auditor sees everything and decides nothing.
func TestAuditorsCannotDecideDocuments(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id, auditor := s.uploadedAs(t, s.as(t, "member"), "first.pdf", pdf), s.as(t, "auditor")
	res := s.get(t, "/portal/desk/documents/"+id, auditor.session)
	wantPage(t, res, http.StatusOK, "first.pdf", "Download pages")
	if strings.Contains(res.Body.String(), `name="decision"`) {
		t.Error("an auditor is offered a decision")
	}
	wantPage(t, s.post(t, "/portal/desk/documents/"+id+"/review", auditor.session, url.Values{"decision": {"accepted"}}), http.StatusNotFound)
	if d := must(s.Documents.Find(t.Context(), uuid.MustParse(id)))(t); d.State != "clean" {
		t.Errorf("the document is %s", d.State)
	}
}

// A page is drawn from the pixels only: what was hidden in the file is not in it.
// It is small, an image and not a page, and opening it is audited.
func TestPicturesHaveNoBytesOfTheFile(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	reviewer := s.as(t, "reviewer")
	const payload = "<script>alert(document.cookie)</script>"
	plain := drawn(t, 2400, 600)
	head := len("\x89PNG\r\n\x1a\n") + 25
	polyglot := string(plain[:head]) + string(chunk("tEXt", "Comment\x00"+payload)) + string(plain[head:]) + payload + "PK\x03\x04"
	id := s.uploadedAs(t, s.as(t, "member"), "scan.png", polyglot)
	wantPage(t, s.get(t, "/portal/desk/documents/"+id, reviewer.session), http.StatusOK, `src="/portal/desk/documents/`+id+`/pages/1"`, `alt="The page of CAC certificate of Harbour Bank"`)
	res := s.get(t, "/portal/desk/documents/"+id+"/pages/1", reviewer.session)
	small := res.Body.Bytes()
	h := res.Header()
	if res.Code != http.StatusOK || h.Get("Content-Type") != "image/jpeg" || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Fatalf("answered %d, %v", res.Code, h)
	}
	for _, part := range []string{payload, "<script", "Comment", "tEXt", "PK\x03\x04", "IDAT", "PNG"} {
		if bytes.Contains(small, []byte(part)) {
			t.Errorf("the picture holds %q", part)
		}
	}
	picture := must(jpeg.Decode(bytes.NewReader(small)))(t)
	if size := picture.Bounds().Size(); size != image.Pt(1200, 300) {
		t.Errorf("the picture has %v dots", size)
	}
	for x, want := range map[int]color.RGBA{100: {R: 255}, 1100: {B: 255}} {
		for _, y := range []int{0, 63, 64, 299} { // at the seams, too
			r, _, b, _ := picture.At(x, y).RGBA()
			if (want.R > 0) != (r > 0xc000) || (want.B > 0) != (b > 0xc000) {
				t.Errorf("the dot at %d, %d has another colour", x, y)
			}
		}
	}
	if n := s.rows(t, "document.opened"); n != 1 {
		t.Errorf("%d looks are in the trail, want 1", n)
	}
}

// There are pictures only of files that may be opened and read, and of no image that claims
// more pixels than the limit.
func TestDocumentsWithoutPictures(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, reviewer := s.as(t, "member"), s.as(t, "reviewer")
	paper := s.uploadedAs(t, member, "scan.pdf", "%PDF-1.4\nnothing that can be drawn\n")
	preview := func(id string) string { return "/portal/desk/documents/" + id + "/pages/1" }
	wantPage(t, s.get(t, "/portal/desk/documents/"+paper, reviewer.session), http.StatusOK, "No picture could be made of this file")
	wantPage(t, s.get(t, preview(paper), reviewer.session), http.StatusUnprocessableEntity, "No picture could be made")
	wantPage(t, s.get(t, "/portal/desk/documents/"+paper+"/pages/0", reviewer.session), http.StatusNotFound)
	s.Documents.Pictures = pageimage.Drawer{Tools: t.TempDir()}
	wantPage(t, s.get(t, "/portal/desk/documents/"+paper, reviewer.session), http.StatusOK, "needs poppler")
	wantPage(t, s.get(t, preview(paper), reviewer.session), http.StatusNotFound)
	huge := []byte("\x89PNG\r\n\x1a\n")
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 20000), 20000)
	huge = append(huge, chunk("IHDR", string(size)+"\x08\x02\x00\x00\x00")...)
	huge = append(append(huge, chunk("IDAT", "x")...), chunk("IEND", "")...)
	wantPage(t, s.get(t, preview(s.uploadedAs(t, member, "huge.png", string(huge))), reviewer.session), http.StatusUnprocessableEntity, "too large to be shown")
	broken := drawn(t, 20, 20)
	wantPage(t, s.get(t, preview(s.uploadedAs(t, member, "broken.png", string(broken[:50]))), reviewer.session), http.StatusUnprocessableEntity, "No picture could be made")
	wantGo(t, s.upload(t, member, "CAC_CERTIFICATE", "fresh.png", string(drawn(t, 20, 20))), "/portal/documents")
	var fresh string
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM document WHERE state = 'received'`).Scan(&fresh); err != nil {
		t.Fatal(err)
	}
	wantPage(t, s.get(t, preview(fresh), reviewer.session), http.StatusConflict, "waiting for its virus scan")
	if n := s.rows(t, "document.opened"); n != 3 {
		t.Errorf("%d looks are in the trail, want the 3 at what could be opened", n)
	}
}
