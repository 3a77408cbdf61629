package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/access"
)

// A file of another format or encoding, or one that is empty, does not end the watch over the
// numbers of a list without a word.
func TestFileThatIsHardlyAListChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.bankKey(t, access.Test)
	list := s.list(t, key, "+2347290000000", "+2347290000001", "+2347290000002")
	members := listsPath + "/" + list + "/members"
	for name, file := range map[string]string{
		"with columns": "+2347290000090;a\n+2347290000091;b\n", "in UTF-16": "+\x002\x003\x004\x00\n\x00", "empty": "", "mostly of something else": "+2347290000000\nx\ny\n",
	} {
		if res := s.do(t, put(members, key, "text/csv", []byte(file))); res.Code != http.StatusBadRequest || !strings.Contains(res.Body.String(), "nothing was changed") {
			t.Errorf("a file %s: %d %s", name, res.Code, res.Body)
		}
		if res := s.do(t, get(listsPath+"/"+list, key)); !strings.Contains(res.Body.String(), `"members":3,`) {
			t.Errorf("after a file %s: %s", name, res.Body)
		}
	}
	if res := s.do(t, put(members, key, "text/csv", []byte("+2347290000000\nx\n"))); res.Code != http.StatusOK {
		t.Errorf("a file with one bad row of two: %d %s", res.Code, res.Body)
	}
	if res := s.do(t, put(members+"?dryRun=true", key, "text/csv", nil)); res.Code != http.StatusOK {
		t.Errorf("a dry run: %d %s", res.Code, res.Body)
	}
}
