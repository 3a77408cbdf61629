package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// needNoKey are the POST operations without an Idempotency-Key, and why: what a repetition does.
var needNoKey = map[string]string{
	"createToken": "another token, shown only in its own response", "login": "another session, shown only in its own response", "proveSession": "proves again",
	"createKey": "another key, shown only in its own response", "rollKey": "another key, shown only in its own response", "rollWebhook": "refused while the old key is valid",
	"beginSecondFactor": "replaces the secret that was not confirmed", "confirmSecondFactor": "refused", "invite": "the e-mail address identifies the invitation: another e-mail",
	"acceptInvitation": "the link works once", "completePasswordReset": "the link works once", "confirmEmail": "the link works once", "askPasswordReset": "another e-mail",
	"changePassword": "refused: the old password is wrong", "logout": "refused: the session has ended", "revokeToken": "the same", "reportKey": "the same", "reviewDocument": "refused: it is decided",
	"verifyPhoneNumber": "another record", "verifyPhoneNumbers": "another record", "tellLineEvents": "the id of the event identifies it", "showLineHistory": "another entry of the audit trail",
	"changeWatchListMembers": "the same members", "acknowledgeNotices": "the same", "cancelJob": "the same", "cancelLineImport": "refused: it is cancelled", "confirmWebhook": "another challenge", "testWebhook": "another test",
	"pauseWebhook": "refused", "resumeWebhook": "refused", "replayWebhook": "the same", "resendWebhookEvents": "sent again", "moveTestClock": "a clock for tests, which showTestClock tells and reset starts again",
}

// Every operation that creates something can be repeated when its response was lost: with an
// Idempotency-Key, or for a reason of its own. Those with the key say the same of it everywhere.
func TestOperationsThatCreateTakeAnIdempotencyKey(t *testing.T) {
	t.Parallel()

	var got, with []string
	for _, o := range operations(t, load(t)) {
		method, _, _ := strings.Cut(o.name, " ")
		if o.Parameters.GetByInAndName("header", "Idempotency-Key") == nil {
			if method == "POST" {
				got = append(got, o.OperationID)
			}
			if text, err := json.Marshal(o.Responses); err != nil || bytes.Contains(text, []byte("Send an Idempotency-Key")) {
				t.Errorf("%s advises to send an Idempotency-Key, and takes none", o.name)
			}
			continue
		}
		with = append(with, o.OperationID)
		conflict := o.Responses.Value("409")
		if conflict == nil || conflict.Value.Headers["Retry-After"] == nil {
			t.Errorf("%s does not describe 409 with Retry-After", o.name)
			continue
		}
		for _, name := range []string{"IdempotencyInFlight", "IdempotencyOtherBody"} {
			found := false
			for _, e := range conflict.Value.Content["application/json"].Examples {
				found = found || strings.HasSuffix(e.Ref, "/"+name)
			}
			if !found {
				t.Errorf("%s: 409 has no example %s", o.name, name)
			}
		}
		for _, status := range []string{"200", "202"} {
			if res := o.Responses.Value(status); res != nil && res.Value.Headers["Idempotency-Replayed"] == nil {
				t.Errorf("%s: %s has no header Idempotency-Replayed", o.name, status)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(needNoKey)), got); diff != "" {
		t.Errorf("operations without an Idempotency-Key (-with a reason +in the contract):\n%s", diff)
	}
	slices.Sort(with)
	want := []string{"createJob", "createWatchList", "createWebhook", "giveLineOrder", "onboardEntity", "receiveLineImport", "uploadDocument"}
	if diff := cmp.Diff(want, with); diff != "" {
		t.Errorf("operations with an Idempotency-Key (-want +contract):\n%s", diff)
	}
}
