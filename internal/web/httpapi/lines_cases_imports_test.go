package httpapi_test

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

func snapshotQuery() string { return "?kind=snapshot&asOf=" + url.QueryEscape(ago(day)) }

func importAnswers() map[string]answer {
	file := func(query, content string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request { return sendFile(query, s.operator(t), content) })
	}
	headed := func(name, value string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			r := sendFile("?kind=events", s.operator(t), spottyFile)
			r.Header.Set(name, value)
			return r
		})
	}
	keyed := func(second string, work bool) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			token := s.operator(t)
			ask := func(content string) *http.Request {
				r := sendFile("?kind=events&asOf=2026-01-02", token, content)
				r.Header.Set("Idempotency-Key", `"file-1"`)
				return r
			}
			id := s.sent(t, ask(spottyFile))
			if work {
				s.work(t, id)
			}
			return ask(second)
		})
	}
	after := func(work bool, query string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			token := s.operator(t)
			if id := s.sent(t, sendFile(query, token, snapshotFile)); work {
				s.work(t, id)
			}
			return sendFile(query, token, snapshotFile)
		})
	}
	return lost("import", file("?kind=events", spottyFile), map[string]answer{
		"import_ok":            {202, file(snapshotQuery(), snapshotFile)},
		"import_ok_dry":        {202, file("?kind=events&dryRun=true", spottyFile)},
		"import_ok_gzip":       {202, headed("Content-Type", "application/gzip")},
		"import_ok_zstd":       {202, headed("Content-Type", "application/zstd")},
		"import_ok_unnamed":    {202, headed("Content-Type", "application/octet-stream")},
		"import_ok_charset":    {202, headed("Content-Type", "text/csv; charset=UTF-8; header=present")},
		"import_ok_identity":   {202, headed("Content-Encoding", "identity")},
		"import_replayed":      {202, keyed(spottyFile, false)},
		"import_replayed_late": {202, keyed(spottyFile, true)},
		"import_no_kind":       {400, file("", snapshotFile)},
		"import_no_as_of":      {400, file("?kind=snapshot", snapshotFile)},
		"import_wrong":         {400, file("?kind=lines&asOf=soon&dryRun=yes&kind=events&network=GLO", snapshotFile)},
		"import_flags_of_all": {400, inLines(func(t *testing.T, s *stack) *http.Request {
			return sendFile(snapshotQuery(), s.lineToken(t, "", "line:flag"), snapshotFile)
		})},
		"import_ok_base": {202, inLines(func(t *testing.T, s *stack) *http.Request {
			return sendFile(snapshotQuery(), s.lineToken(t, "", "line:port"), snapshotFile)
		})},
		"import_bad_query": {400, file("?kind=%zz", snapshotFile)},
		"import_future":    {400, file("?kind=snapshot&asOf=2999-01-01", snapshotFile)},
		"import_bad_key":   {400, headed("Idempotency-Key", strings.Repeat("k", 256))},
		"import_cut_off": {400, inLines(func(t *testing.T, s *stack) *http.Request {
			r := sendFile("?kind=events", s.operator(t), "")
			r.Body, r.ContentLength = io.NopCloser(breakOff(spottyFile)), -1
			return r
		})},
		"import_no_scope": {403, inLines(func(t *testing.T, s *stack) *http.Request {
			return sendFile("?kind=events", s.lineToken(t, "", "document:upload"), "")
		})},
		"import_no_network": {409, inLines(func(t *testing.T, s *stack) *http.Request {
			return sendFile("?kind=events", s.lineToken(t, "NOWHERE", "line:supply"), "")
		})},
		"import_open":           {409, after(false, snapshotQuery())},
		"import_not_newer":      {409, after(true, "?kind=snapshot&asOf=2026-01-01")},
		"import_other_file":     {409, keyed(strings.Replace(spottyFile, "a,", "z,", 1), true)},
		"import_other_and_open": {409, keyed(snapshotFile, false)},
		"import_in_flight": {409, inLines(func(t *testing.T, s *stack) *http.Request {
			s.client = must(s.Access.CreateClient(t.Context(), access.ClientForm{Name: "MTN", Scopes: []string{"line:supply"}, Network: "MTN"}, access.Operator, uuid.Nil))(t)
			holdTicket(t, s, "lines-import")
			r := sendFile("?kind=events", s.token(t), spottyFile)
			r.Header.Set("Idempotency-Key", "key-1")
			return r
		})},
		"import_too_large": {413, file("?kind=events", strings.Repeat("x", 1<<17))},
		"import_too_large_unannounced": {413, inLines(func(t *testing.T, s *stack) *http.Request {
			r := sendFile("?kind=events", s.operator(t), strings.Repeat("x", 1<<17))
			r.ContentLength = -1
			return r
		})},
		"import_media_type": {415, headed("Content-Type", "application/json")},
		"import_charset":    {415, headed("Content-Type", "text/csv; charset=latin1")},
		"import_encoding":   {415, headed("Content-Encoding", "gzip")},
	})
}

// importedAnswers are the responses of the three operations that read imports.
func importedAnswers() map[string]answer {
	read := func(suffix string, who func(t *testing.T, s *stack, mtn string) string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			mtn := s.operator(t)
			id := s.sent(t, sendFile("?kind=events", mtn, spottyFile))
			s.work(t, id)
			return get(strings.Replace(importsPath+suffix, "{id}", id, 1), who(t, s, mtn))
		})
	}
	own := func(_ *testing.T, _ *stack, mtn string) string { return mtn }
	staff := func(t *testing.T, s *stack, _ string) string { t.Helper(); return s.staff(t, "auditor") }
	other := func(t *testing.T, s *stack, _ string) string { t.Helper(); return s.lineToken(t, "GLO", "line:supply") }
	deaf := func(t *testing.T, s *stack, _ string) string {
		t.Helper()
		return s.lineToken(t, "", "document:upload")
	}
	flagger := func(t *testing.T, s *stack, _ string) string { t.Helper(); return s.lineToken(t, "", "line:flag") }
	nowhere := func(t *testing.T, s *stack, _ string) string {
		t.Helper()
		return s.lineToken(t, "NOWHERE", "line:supply")
	}
	all := lost("imports_list", read("", own), map[string]answer{
		"imports_list_ok":         {200, read("", own)},
		"imports_list_ok_staff":   {200, read("", staff)},
		"imports_list_ok_none":    {200, read("", other)},
		"imports_list_ok_sector":  {200, read("", flagger)},
		"imports_list_no_scope":   {403, read("", deaf)},
		"imports_list_no_network": {409, read("", nowhere)},
	})
	for _, suffix := range []string{"/{id}", "/{id}/refused"} {
		name := map[string]string{"/{id}": "imports_one", "/{id}/refused": "imports_refused"}[suffix]
		all[name+"_ok"] = answer{200, read(suffix, own)}
		all[name+"_ok_staff"] = answer{200, read(suffix, staff)}
		all[name+"_no_scope"] = answer{403, read(suffix, deaf)}
		all[name+"_of_another"] = answer{404, read(suffix, other)}
		all[name+"_unknown"] = answer{404, read(strings.Replace(suffix, "{id}", uuid.NewString(), 1), own)}
		all[name+"_no_id"] = answer{404, read(strings.Replace(suffix, "{id}", "7", 1), own)}
		all = lost(name, read(suffix, own), all)
	}
	cancel := func(work bool, who func(t *testing.T, s *stack, mtn string) string, named string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			mtn := s.operator(t)
			id := s.sent(t, sendFile("?kind=events", mtn, spottyFile))
			if work {
				s.work(t, id)
			}
			return post(importsPath+"/"+cmp.Or(named, id)+"/cancel", who(t, s, mtn), "")
		})
	}
	all = lost("imports_cancel", cancel(false, own, ""), all)
	maps.Copy(all, map[string]answer{
		"imports_cancel_ok":         {200, cancel(false, own, "")},
		"imports_cancel_no_scope":   {403, cancel(false, deaf, "")},
		"imports_cancel_of_another": {404, cancel(false, other, "")},
		"imports_cancel_flagger":    {404, cancel(false, flagger, "")},
		"imports_cancel_unknown":    {404, cancel(false, own, uuid.NewString())},
		"imports_cancel_too_late":   {409, cancel(true, own, "")},
	})
	maps.Copy(all, importReceiptAnswers(own, other, deaf))
	return all
}

func supplyAnswers() map[string]answer {
	ask := func(who func(t *testing.T, s *stack) string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			s.told(t, s.operator(t), happened("end-1", freshNumber, "ENDED", 9*day, "reason", "CHURNED"), happened("swap-1", knownNumber, "SIM_CHANGED", day))
			return get(supplyPath, who(t, s))
		})
	}
	own := ask(func(t *testing.T, s *stack) string { t.Helper(); return s.operator(t) })
	return lost("supply", own, map[string]answer{
		"supply_ok":         {200, own},
		"supply_ok_staff":   {200, ask(func(t *testing.T, s *stack) string { t.Helper(); return s.staff(t, "auditor") })},
		"supply_no_scope":   {403, ask(func(t *testing.T, s *stack) string { t.Helper(); return s.lineToken(t, "MTN", "line:flag") })},
		"supply_no_network": {409, ask(func(t *testing.T, s *stack) string { t.Helper(); return s.lineToken(t, "NOWHERE", "line:supply") })},
	})
}
