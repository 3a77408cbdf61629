package portal_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/receipt"
)

// openLog turns the public log on. Publish makes the receipts of what was answered.
func (s *stack) openLog(t testing.TB) {
	t.Helper()
	const origin = "lineproof.example/log/0/2027"
	log := &publiclog.Log{Pool: s.pool, Origin: origin}
	if err := log.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	tiles := must(blob.OpenDir(t.TempDir()))(t)
	s.publisher = publiclog.NewPublisher(log, tiles, logtest.NewKey(t, origin))
	s.receipts = &logreceipt.Maker{Pool: s.pool, Archive: must(blob.OpenDir(t.TempDir()))(t), Tiles: tiles, Origin: origin}
}

func (s *stack) publish(t testing.TB) {
	t.Helper()
	must(s.publisher.Log.Tick(t.Context()))(t)
	must(s.publisher.Publish(t.Context()))(t)
}

// From the page of an answer its receipt opens, with everything that is needed to verify
// it, and can be kept as a file.
func TestReceiptOpensFromAnAnswer(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	who := s.as(t, "admin")
	key, _ := s.madeKey(t, who, "Lone Palm", "test")
	id := s.asked(t, key, "", testNumber)[0]
	if res := s.get(t, "/portal/journal/"+id, who.session); !strings.Contains(res.Body.String(), `href="/portal/journal/`+id+`/receipt"`) {
		t.Error("the page of the record does not lead to its receipt")
	}
	if res := s.get(t, "/portal/journal/"+id+"/receipt", who.session); res.Code != http.StatusServiceUnavailable || !strings.Contains(res.Body.String(), "takes about a second") {
		t.Errorf("before it is published: %d", res.Code)
	}
	s.publish(t)

	page := s.get(t, "/portal/journal/"+id+"/receipt", who.session).Body.String()
	shown := regexp.MustCompile(`(?s)<textarea[^>]*name="(\w+)"[^>]*>(.*?)</textarea>`).FindAllStringSubmatch(page, -1)
	file := s.get(t, "/portal/export/receipts/"+id, who.session)
	if len(shown) != 2 || html.UnescapeString(shown[0][2]) != file.Body.String() {
		t.Fatalf("the page shows %q, and the file is %s", shown, file.Body)
	}
	if name := file.Header().Get("Content-Disposition"); name != `attachment; filename="receipt-`+id+`.json"` {
		t.Errorf("the file is %s", name)
	}
	p := must(receipt.NewPolicy(html.UnescapeString(shown[1][2])))(t)
	v := must(must(receipt.Parse(file.Body.Bytes()))(t).Verify(p))(t)
	if v.RequestID != id || v.Entity != s.bank.ID.String() {
		t.Errorf("it proves %+v", v)
	}
}

// The page that verifies is open to everybody. As a file it loads nothing, and allows no
// other script or style than its own.
func TestReceiptsAreVerifiedByEverybody(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	page := s.get(t, "/portal/receipts", "").Body.String()
	if !strings.Contains(page, "<form class=\"card\" data-receipt>") || !strings.Contains(page, `type="module"`) || !strings.Contains(page, html.EscapeString(s.publisher.Key.Verifier())) {
		t.Errorf("the page is %s", page)
	}
	res := s.get(t, "/portal/export/verify-receipt.html", "")
	file := res.Body.String()
	if res.Code != http.StatusOK || !strings.HasPrefix(res.Header().Get("Content-Disposition"), "attachment") {
		t.Fatalf("the file is answered %d: %s", res.Code, res.Header())
	}
	allowed := html.UnescapeString(regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(file)[1])
	for _, tag := range []string{"style", "script"} {
		in := regexp.MustCompile(`(?s)<`+tag+`[^>]*>(.*?)</`+tag+`>`).FindAllStringSubmatch(file, -1)
		if len(in) != 1 {
			t.Fatalf("there are %d of %s", len(in), tag)
		}
		sum := sha256.Sum256([]byte(in[0][1]))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(allowed, want) {
			t.Errorf("%q does not allow %s", allowed, want)
		}
	}
	if !strings.HasPrefix(allowed, "default-src 'none'") || regexp.MustCompile(`(src|href)="[^d]`).MatchString(file) {
		t.Errorf("the file may load something: %s", allowed)
	}
}
