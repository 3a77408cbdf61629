package httpapi_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/testing/together"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

const once, each, ended = together.Once, together.Each, together.Ended

// effect is what an operation leaves behind: a query that counts it.
type effect struct {
	at         together.Times
	credential string // of those that credentials returns; "" for none
	counted    string
}

// effects has every operation that changes something.
func effects() map[string]effect {
	count := func(what string) string { return "SELECT count(*) FROM " + what }
	audited := func(action string) string { return count("audit WHERE action = '" + action + "'") }
	const client, admin, reviewer = "token", "session admin", "session reviewer"
	return map[string]effect{
		"POST " + tokenPath:                              {each, "", count("access_token")},
		"POST " + revokePath:                             {ended, "", audited("token.revoked")},
		"POST " + onboardPath:                            {once, client, count("entity")},
		"POST " + uploadPath:                             {each, client, count("document")},
		"POST " + documentsPath + "/{documentId}/review": {once, reviewer, audited("document.accepted")},
		"POST " + loginPath:                              {each, "", count("session")},
		"POST " + logoutPath:                             {ended, admin, audited("session.ended")},
		"DELETE " + sessionsPath:                         {ended, admin, audited("session.all_ended")},
		"DELETE " + sessionsPath + "/{sessionId}":        {ended, admin, audited("session.ended")},
		"POST " + passwordPath:                           {once, admin, audited("password.changed")},
		"POST " + resetPath:                              {ended, "", count("account_link")},
		"POST " + resetCompletePath:                      {once, "", audited("password.reset")},
		"POST " + confirmEmailPath:                       {once, "", audited("account.email_confirmed")},
		"POST " + factorPath:                             {each, admin, audited("factor.begun")}, // each replaces the one before
		"DELETE " + factorPath:                           {once, admin, audited("factor.removed")},
		"POST " + factorConfirmPath:                      {once, admin, audited("factor.set")},
		"POST " + invitationsPath:                        {ended, admin, count("account")}, // another e-mail to the same person
		"POST " + acceptPath:                             {once, "", audited("invitation.accepted")},
		"POST " + provePath:                              {each, admin, audited("session.proved")},
		"DELETE " + teamPath + "/{accountId}":            {once, admin, audited("account.disabled")},
		"POST " + keysPath:                               {each, admin, count("api_key")},
		rollRoute:                                        {once, admin, count("api_key")},
		endKeyRoute:                                      {once, admin, audited("key.revoked")},
		reportRoute:                                      {each, admin, audited("key.reported_leaked")},
		"POST " + verifyPath:                             {each, "api key live", count("journal_entry")},
		"POST " + batchPath:                              {each, "api key live", count("journal_entry")},
		"POST " + clockPath:                              {each, "api key test", "SELECT coalesce(sum(ahead) / 86400, 0)::bigint FROM rehearsal_clock"},
		"POST " + listsPath:                              {each, "api key bank", count("watch_list")},
		"DELETE " + listsPath + "/{listId}":              {once, "api key bank", "SELECT -count(*) FROM watch_list"},
		"PUT " + listsPath + "/{listId}/members":         {ended, "api key bank", "SELECT sum(members) FROM watch_list"},
		"POST " + listsPath + "/{listId}/members":        {ended, "api key bank", "SELECT sum(members) FROM watch_list"},
		"POST " + acksPath:                               {ended, "api key bank", "SELECT count(acknowledged_at) FROM impact_notice"},
		"POST " + jobsPath:                               {each, "api key bank", count("file_job")},
		"PUT " + jobsPath + "/{jobId}/file":              {once, "api key bank", count("file_job WHERE state = 'checking'")},
		"POST " + jobsPath + "/{jobId}/cancel":           {ended, "api key bank", count("file_job WHERE state = 'cancelled'")},
		"POST " + hooksPath:                              {each, "api key bank", count("hook_endpoint")},
		"DELETE " + hooksPath + "/{webhookId}":           {once, "api key bank", "SELECT -count(*) FROM hook_endpoint"},
		"POST " + hooksPath + "/{webhookId}/confirm":     {once, "api key bank", "SELECT count(*) FROM audit WHERE action = 'webhook.confirmed'"},
		"POST " + hooksPath + "/{webhookId}/test":        {once, "api key bank", count("hook_attempt")},
		"POST " + hooksPath + "/{webhookId}/resend":      {once, "api key bank", count("hook_attempt")},
		"POST " + hooksPath + "/{webhookId}/pause":       {once, "api key bank", "SELECT count(*) FROM audit WHERE action = 'webhook.paused'"},
		"POST " + hooksPath + "/{webhookId}/resume":      {once, "api key bank", "SELECT count(*) FROM audit WHERE action = 'webhook.resumed'"},
		"POST " + hooksPath + "/{webhookId}/roll":        {once, "api key bank", "SELECT count(*) FROM audit WHERE action = 'webhook.rolled'"},
		"POST " + hooksPath + "/{webhookId}/replay":      {each, "api key bank", "SELECT count(*) FROM audit WHERE action = 'webhook.replayed'"},
		"POST " + eventsPath:                             {ended, "token line:supply", count("line_event")},
		"POST " + ordersPath:                             {each, reviewer, count("line_order")},
		"POST " + importsPath:                            {once, "token line:supply", count("supply_import")},
		"POST " + importsPath + "/{importId}/cancel":     {once, "token line:supply", audited("import.cancelled")},
	}
}

// readers are the operations that are sent with POST and change nothing but the
// audit trail.
var readers = []string{"POST " + historyPath}

// The same request to change something, sent 32 times at once, answers nothing
// but success and errors of the caller, and takes effect once, or once for every
// success. LINEPROOF_E2E_ROUNDS says how often each is sent (2).
func TestParallelRequestsTakeEffectOnce(t *testing.T) {
	t.Parallel()
	all := effects()
	for _, route := range (&httpapi.API{}).Operations() {
		if _, known := all[route]; !known && !strings.HasPrefix(route, "GET ") && !slices.Contains(readers, route) {
			t.Errorf("this test does not know %s", route)
		}
	}
	s := newStack(t).withLines(t)
	owner := openAs(t, s.pool.Config().ConnString())
	s.People.Passwords = secret.NewPasswords(s.People.Peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 64)
	s.Registry.Passwords = s.People.Passwords
	creds, entity := credentials(t, s)
	for range together.Rounds(t, 2) {
		for _, route := range slices.Sorted(maps.Keys(all)) {
			e := all[route]
			r := parallelRequest(t, s, route, creds[e.credential], entity)
			before := count(t, owner, e.counted)
			answers := together.Send(t, s.handler, r)
			together.Judge(t, route, e.at, answers, succeeded, count(t, owner, e.counted)-before)
		}
	}
}

// parallelRequest returns a request that takes effect. It differs from
// validRequest where that one would change nothing.
func parallelRequest(t *testing.T, s *stack, route, credential, entity string) *http.Request {
	t.Helper()
	switch route {
	case "POST " + revokePath:
		r := form(s.grant(func(v url.Values) { v.Set("token", s.token(t)) }))
		r.URL.Path = revokePath
		return r
	case "POST " + hooksPath + "/{webhookId}/confirm": // only one of a test key can be on this machine
		return post(hooksPath+"/"+s.hook(t, s.bank.ID, access.Test, "unconfirmed").String()+"/confirm", s.bankKey(t, access.Test), `{}`)
	case "POST " + acksPath:
		super(t, s, `DELETE FROM impact_notice`)
		super(t, s, `INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at) VALUES (gen_random_uuid(), 1, '`+s.bank.ID.String()+`', '1-1', now())`)
		return post(acksPath, credential, `{"eventIds":["1-1"]}`)
	case "POST " + eventsPath:
		return post(eventsPath, credential, eventsBody(t, happened(uuid.NewString(), knownNumber, "USED", day)))
	}
	return validRequest(t, s, route, credential, entity)
}

func count(t *testing.T, pool *pgxpool.Pool, sql string) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func succeeded(res *httptest.ResponseRecorder) bool { return res.Code < http.StatusMultipleChoices }
