package monitor

import (
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/values/logentry"
)

// announced is a key with which the log said that it signs.
type announced struct {
	Key   string `json:"key"`
	Index int64  `json:"index"` // of the entry
}

// addKey remembers a key of the log.
func (s *state) addKey(index int64, k *logentry.KeyUse) {
	if k.Role == logentry.RoleLog || k.Role == logentry.RoleNext {
		s.Announced = append(s.Announced, announced{k.Value, index})
	}
}

// unsigned judges a checkpoint that the key of the policy has not signed. A log whose key was
// replaced, and that said so while the old key still signed, has done nothing wrong: the
// policy is out of date. Whether the new key is the right one, its owner must say in another
// way than by the log.
func (s *state) unsigned(signed string) error {
	for _, a := range s.Announced {
		v, err := note.NewVerifier(a.Key)
		if err != nil || v.Name() != s.Origin {
			continue
		}
		if _, err := note.Open([]byte(signed), note.VerifierList(v)); err == nil {
			return fmt.Errorf("monitor: the log is signed with another key than that of the policy, which it announced in entry %d: %s; if you got the same key from the owner of the log, put it into the policy", a.Index, a.Key)
		}
	}
	return violation("the checkpoint is not signed by the key of the log, or a signature on it is wrong")
}
