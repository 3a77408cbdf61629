package portal_test

import (
	"archive/tar"
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

// hiddenText stands in files where no page shows it.
const hiddenText = "<script>EVIL.hidden-9b1f</script>"

// spellings are the hidden text as it could come out: as it is, in hexadecimal and, wherever
// it begins, in base64.
func spellings() (all []string) {
	all = []string{hiddenText, "EVIL.hidden-9b1f", "EVIL.hidden", hex.EncodeToString([]byte(hiddenText)), strings.ToUpper(hex.EncodeToString([]byte(hiddenText)))}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + hiddenText))
		all = append(all, text[4:len(text)-4])
	}
	return all
}

// leak returns the first spelling that a text holds, "" for none.
func leak(text string) string {
	for _, spelling := range spellings() {
		if strings.Contains(text, spelling) {
			return spelling
		}
	}
	return ""
}

// hiding returns files that draw, with the hidden text in their metadata.
func hiding(t testing.TB) map[string]string {
	t.Helper()
	plain := drawn(t, 40, 30)
	head := len("\x89PNG\r\n\x1a\n") + 25
	picture := must(png.Decode(bytes.NewReader(plain)))(t)
	var deflated, photo, moving bytes.Buffer
	z := zlib.NewWriter(&deflated)
	must(z.Write([]byte(hiddenText)))(t)
	_ = z.Close()
	if err := jpeg.Encode(&photo, picture, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&moving, picture, &gif.Options{NumColors: len(palette.WebSafe)}); err != nil {
		t.Fatal(err)
	}
	segment := func(marker byte, body string) string {
		return string([]byte{0xff, marker, 0, byte(len(body) + 2)}) + body
	}
	return map[string]string{
		"scan.pdf": strings.Replace(pdf, "/Type/Catalog", fmt.Sprintf("/Type/Catalog/Metadata 9 0 R/OpenAction<</S/JavaScript/JS(%s)>>", hiddenText), 1) +
			fmt.Sprintf("9 0 obj<</Type/Metadata/Length %d>>stream\n%s\nendstream endobj\n", len(hiddenText), hiddenText),
		"scan.png": string(plain[:head]) + string(chunk("tEXt", "Comment\x00"+hiddenText)) + string(chunk("zTXt", "Note\x00\x00"+deflated.String())) + string(plain[head:]) + hiddenText,
		"scan.jpg": photo.String()[:2] + segment(0xe1, "Exif\x00\x00II*\x00\x08\x00\x00\x00\x00\x00"+hiddenText) + segment(0xfe, hiddenText) + photo.String()[2:],
		"scan.gif": strings.TrimSuffix(moving.String(), ";") + "!\xfe" + string(rune(len(hiddenText))) + hiddenText + "\x00;",
	}
}

// None of the bytes that a file has beside its pixels reaches anybody: not by a page, a
// download or the list of any role, not over the API, and not of a file that was refused or is
// infected.
func TestNoRouteGivesBytesOfAFile(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	ids := map[string]string{}
	for name, content := range hiding(t) {
		for before := range 3 {
			text := strings.Repeat("x", before) + content
			if leak(text) == "" || leak(hex.EncodeToString([]byte(text))) == "" || leak(base64.StdEncoding.EncodeToString([]byte(text))) == "" {
				t.Errorf("%s itself would not be found", name)
			}
		}
		ids[name] = e.uploadedAs(t, e.visitors["telco"], name, content)
	}
	for _, state := range []string{"refused", "infected"} {
		wantGo(t, e.upload(t, e.visitors["telco"], "OTHER", state+".png", hiding(t)["scan.png"]), "/portal/documents")
		ids[state] = e.newestDocument(t)
		e.moved(t, ids[state], "", "received", "scanning", state)
	}
	shown := map[string]int{}
	check := func(name string, res *httptest.ResponseRecorder) {
		if found := leak(fmt.Sprint(res.Header()) + res.Body.String()); found != "" {
			t.Errorf("%s (%d) holds %q", name, res.Code, found)
		}
		if res.Code == http.StatusOK {
			kind, _, _ := strings.Cut(res.Header().Get("Content-Type"), ";")
			shown[kind]++
		}
	}
	for file, id := range ids {
		e.own["document"], e.desk["document"] = id, id
		for _, row := range e.Rows() {
			ofDocument := strings.Contains(row.Path, "{document}")
			if row.Method != http.MethodGet || !ofDocument && file != "scan.png" {
				continue
			}
			for _, role := range slices.Concat(e.who(row), []string{"stranger", "nobody"}) {
				check(file+" by "+row.Path+" as "+role, e.get(t, e.at(t, row.Path), e.visitors[role].session))
			}
		}
		for role, visitor := range e.visitors {
			session := access.SessionForm{Account: visitor.id}
			if role == "telco" {
				session.Entity = e.telco.ID
			} else if !slices.Contains([]string{"administrator", "reviewer", "auditor"}, role) {
				continue
			}
			token := e.openAs(t, session)
			const at = "/api/regulator/v1/documents"
			for _, path := range []string{at, at + "/" + id, at + "/" + id + "/content", "/api/regulator/v1/audit?subjectId=" + id} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
				r.Header.Set("Authorization", "Bearer "+token)
				check(file+" by "+path+" as "+role, serve(e.API, r))
			}
		}
	}
	for _, kind := range []string{"text/html", "application/pdf", "image/jpeg", "application/json"} {
		if shown[kind] < 8 {
			t.Errorf("only %d answers are %s: %v", shown[kind], kind, shown)
		}
	}
}

// newestDocument returns the id of the document that was uploaded last.
func (s *stack) newestDocument(t testing.TB) (id string) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM document ORDER BY id DESC LIMIT 1`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// recipient is a public key of age, of which nobody has the private one.
const recipient = "age18dt3gnla8mh4jry8dqjxp20v4ammw8ustpwdntgdlnvquc820fsskvrkgg"

// newOriginal requests the original of a document, and returns the path of the download.
func (s *stack) newOriginal(t testing.TB, asker visitor, id string) (path string) {
	t.Helper()
	request := document.OriginalRequest{Document: uuid.MustParse(id), Recipient: recipient, Reason: "Suit FHC/ABJ/12/2026", By: actorOf(asker)}
	return "/portal/desk/documents/" + id + "/original/" + must(s.Documents.RequestOriginal(t.Context(), request))(t).String()
}

// The original leaves when two administrators agree, to the one who requested it, for a day
// and three times, in an archive that is noise without the key.
func TestOriginalLeavesSealedByTwoPeople(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other, reviewer := s.asAdministrator(t), s.asAdministrator(t), s.as(t, "reviewer")
	s.independent(t)
	content := hiding(t)["scan.pdf"]
	id := s.uploadedAs(t, s.as(t, "member"), "scan.pdf", content)
	at, key := "/portal/desk/documents/"+id, must(age.GenerateX25519Identity())(t)
	form := url.Values{"recipient": {key.Recipient().String()}, "originalReason": {"Suit FHC/ABJ/12/2026"}}

	if strings.Contains(s.get(t, at, reviewer.session).Body.String(), at+"/original") {
		t.Error("a reviewer is offered the original")
	}
	wantPage(t, s.post(t, at+"/original", reviewer.session, form), http.StatusNotFound)
	wantPage(t, s.get(t, at, asker.session), http.StatusOK, "Request original")
	for field, wrong := range map[string]string{"recipient": key.String(), "originalReason": ""} {
		bad := url.Values{"recipient": form["recipient"], "originalReason": form["originalReason"]}
		bad.Set(field, wrong)
		wantPage(t, s.post(t, at+"/original", asker.session, bad), http.StatusUnprocessableEntity, `id="error-`+field+`"`)
	}
	wantGo(t, s.post(t, at+"/original", asker.session, form), at)
	waiting := must(s.Approvals.List(t.Context(), false, 1))(t)[0]
	take := at + "/original/" + waiting.ID.String()
	wantPage(t, s.get(t, at, asker.session), http.StatusOK, "waits for another administrator")
	wantPage(t, s.post(t, take, asker.session, url.Values{}), http.StatusConflict, "waits for another administrator")
	wantPage(t, s.post(t, approvalsPath+"/"+waiting.ID.String()+"/confirm", asker.session, url.Values{}), http.StatusForbidden)
	wantPage(t, s.get(t, approvalsPath+"/"+waiting.ID.String()+"/confirm", other.session), http.StatusOK, "Download the original of a document", key.Recipient().String(), "Suit FHC/ABJ/12/2026")
	wantGo(t, s.post(t, approvalsPath+"/"+waiting.ID.String()+"/confirm", other.session, url.Values{}), approvalsPath)

	wantPage(t, s.post(t, take, other.session, url.Values{}), http.StatusNotFound)
	if strings.Contains(s.get(t, at, other.session).Body.String(), take) {
		t.Error("the second person is offered the download")
	}
	wantPage(t, s.get(t, at, asker.session), http.StatusOK, "Download sealed archive", take)
	for range document.MaxOriginals {
		res := s.post(t, take, asker.session, url.Values{})
		if res.Code != http.StatusOK || res.Header().Get("Content-Type") != "application/octet-stream" || !strings.Contains(res.Header().Get("Content-Disposition"), `attachment; filename="document-`+id+`.tar.age"`) {
			t.Fatalf("answered %d, %v: %.300s", res.Code, res.Header(), res.Body)
		}
		sealed := res.Body.String()
		for _, text := range append(spellings(), "%PDF", "manifest", "original", id, "scan.pdf") {
			if strings.Contains(sealed, text) {
				t.Errorf("the archive holds %q", text)
			}
		}
		if _, err := age.Decrypt(strings.NewReader(sealed), must(age.GenerateX25519Identity())(t)); err == nil {
			t.Error("another key opens the archive")
		}
		s.unsealed(t, sealed, key, content, waiting.ID.String(), asker, other)
	}
	wantPage(t, s.post(t, take, asker.session, url.Values{}), http.StatusConflict, "downloaded 3 times")
	trail := must(audit.List(t.Context(), s.pool, audit.Filter{Subject: uuid.MustParse(id), Action: "document.original"}))(t)
	if len(trail) != document.MaxOriginals || trail[0].Actor.ID != asker.id || trail[0].After["recipient"] != key.Recipient().String() || trail[0].After["reason"] != "Suit FHC/ABJ/12/2026" {
		t.Errorf("the trail has %d downloads: %+v", len(trail), trail)
	}
}

// unsealed checks what the holder of the key finds.
func (s *stack) unsealed(t testing.TB, sealed string, key *age.X25519Identity, content, approval string, asker, other visitor) {
	t.Helper()
	files := tar.NewReader(must(age.Decrypt(strings.NewReader(sealed), key))(t))
	found := map[string]string{}
	for {
		head, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(head.Name, "/")
		found[name] = string(must(io.ReadAll(files))(t))
	}
	sum := sha256.Sum256([]byte(content))
	var about map[string]any
	if err := json.Unmarshal([]byte(found["manifest.json"]), &about); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"sha256": hex.EncodeToString(sum[:]), "size": float64(len(content)), "approvalId": approval, "fileName": "scan.pdf", "type": "CAC_CERTIFICATE", "organisationId": s.bank.ID.String(),
		"requestedBy": "account " + asker.id.String(), "confirmedBy": "account " + other.id.String(), "reason": "Suit FHC/ABJ/12/2026",
	} {
		if about[name] != want {
			t.Errorf("the manifest says %s is %v, want %v", name, about[name], want)
		}
	}
	if len(found) != 2 || found["original"] != content {
		t.Errorf("the archive has %d files, and the original has %d bytes", len(found), len(found["original"]))
	}
}

// What was agreed ends: after a day, with the role of the requester, with the content, and when
// the stored file is not what was uploaded, which is said.
func TestOriginalIsNotHandedOut(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other := s.asAdministrator(t), s.asAdministrator(t)
	s.independent(t)
	dir := t.TempDir()
	s.Documents.Files = must(blob.OpenDir(dir))(t)
	member := s.as(t, "member")
	agreed := func() (id, take string) {
		id = s.uploadedAs(t, member, "scan.pdf", pdf)
		take = s.newOriginal(t, asker, id)
		must(s.Approvals.Confirm(t.Context(), uuid.MustParse(take[len(take)-36:]), actorOf(other), uuid.Nil))(t)
		return id, take
	}
	_, late := agreed()
	s.Documents.Now = func() time.Time { return time.Now().Add(document.OriginalLifetime + time.Minute) }
	wantPage(t, s.post(t, late, asker.session, url.Values{}), http.StatusConflict, "24 hours are over")
	s.Documents.Now = time.Now

	first, take := agreed()
	second := s.uploadedAs(t, member, "other.pdf", pdf)
	wantPage(t, s.post(t, strings.Replace(take, first, second, 1), asker.session, url.Values{}), http.StatusNotFound)
	must(s.pool.Exec(t.Context(), `UPDATE account SET role = 'reviewer' WHERE id = $1`, asker.id))(t)
	if _, err := s.Documents.Original(t.Context(), uuid.MustParse(first), uuid.MustParse(take[len(take)-36:]), actorOf(asker), uuid.Nil); err == nil {
		t.Error("somebody who is no administrator any more gets the original")
	}
	must(s.pool.Exec(t.Context(), `UPDATE account SET role = 'administrator' WHERE id = $1`, asker.id))(t)
	path := fileNamed(t, dir, first)
	if err := os.WriteFile(path, []byte(strings.Replace(pdf, "1.4", "1.5", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantPage(t, s.post(t, take, asker.session, url.Values{}), http.StatusConflict, "differs from what was uploaded")
	if n := s.rows(t, "document.original"); n != 0 {
		t.Errorf("%d downloads are in the trail", n)
	}

	gone := s.uploadedAs(t, member, "scan.pdf", pdf)
	take = s.newOriginal(t, asker, gone)
	if err := s.Documents.Delete(t.Context(), uuid.MustParse(gone), "A mistake", access.Operator); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Approvals.Confirm(t.Context(), uuid.MustParse(take[len(take)-36:]), actorOf(other), uuid.Nil); err == nil {
		t.Error("the original of a deleted document is agreed on")
	}
}

// fileNamed returns the path of the only file below a directory whose name contains a text.
func fileNamed(t testing.TB, dir, text string) (path string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(d.Name(), text) {
			path = p
		}
		return err
	})
	if err != nil || path == "" {
		t.Fatal(path, err)
	}
	return path
}
