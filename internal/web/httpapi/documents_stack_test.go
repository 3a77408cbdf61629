package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

const documentsPath = "/api/regulator/v1/documents"

// paper uploads a document for an entity of the stack's client and returns the
// id.
func (s *stack) paper(t testing.TB, entity, label string) string {
	t.Helper()
	res := s.do(t, upload(s.token(t), part{"type", "", label}, part{"file", "cac.pdf", pdf}, part{"entityUid", "", entity}))
	if res.Code != http.StatusOK {
		t.Fatalf("the upload was answered with %d: %s", res.Code, res.Body)
	}
	return field(t, res.Body.Bytes(), "data")
}

// stepsTo are the state changes from received to each state.
var stepsTo = map[string][]string{
	"received": {},
	"scanning": {"scanning"},
	"clean":    {"scanning", "clean"},
	"refused":  {"scanning", "refused"},
	"infected": {"scanning", "infected"},
	"accepted": {"scanning", "clean", "accepted"},
	"rejected": {"scanning", "clean", "rejected"},
	"deleted":  {"scanning", "clean", "deleted"},
}

// noted are the notes of the service or a person about some states.
var noted = map[string][2]string{
	"refused":  {"encrypted", "The PDF opens with a password only."},
	"infected": {"virus", "The virus scanner found Example.Test in the file."},
	"rejected": {"", "The stamp cannot be read."},
	"deleted":  {"", "By order of the court"},
}

// moved brings a new document to a state, as scanner and reviewers would.
func (s *stack) moved(t testing.TB, id, to string) string {
	t.Helper()
	from := "received"
	for i, state := range stepsTo[to] {
		actor := "system"
		if i == 2 {
			actor = "operator"
		}
		must(s.pool.Exec(t.Context(), `INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, reason, note) VALUES ($1, $2, now(), $3, $4, $5, $6, $7)`,
			id, i+1, from, state, actor, noted[state][0], noted[state][1]))(t)
		must(s.pool.Exec(t.Context(), `UPDATE document SET state = $2, moved_at = now(), reason = $3, note = $4 WHERE id = $1`, id, state, noted[state][0], noted[state][1]))(t)
		from = state
	}
	return id
}

// documentRequest returns a request that succeeds with a valid credential; nil
// for routes that are not about documents.
func documentRequest(t *testing.T, s *stack, route, entity string) *http.Request {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	if path == documentsPath {
		return get(documentsPath+"?entityUid="+entity, "")
	}
	if !strings.HasPrefix(path, documentsPath+"/") {
		return nil
	}
	path = strings.Replace(path, "{documentId}", s.moved(t, s.paper(t, entity, "CAC_CERTIFICATE"), "clean"), 1)
	if method == http.MethodPost {
		return post(path, "", `{"decision":"accepted"}`)
	}
	return get(path, "")
}
