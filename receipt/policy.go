package receipt

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// Policy has the keys that a verifier believes: the key of a log, and the witnesses that must
// have seen its checkpoint. Take it from somebody you trust, and not from the source of a
// receipt.
type Policy struct {
	log       note.Verifier
	witnesses map[string]*witness // by their names in the policy
	groups    map[string]group
	quorum    string // a witness, a group, or none
}

type witness struct {
	note.Verifier

	url string // where it takes checkpoints; may be empty
}

type group struct {
	least   int
	members []string
}

// none is the quorum of a policy that needs no witness.
const none = "none"

// NewPolicy returns the policy that believes the key of a log and needs no witness.
func NewPolicy(key string) (*Policy, error) {
	log, err := newLogVerifier(strings.TrimSpace(key))
	if err != nil {
		return nil, fmt.Errorf("receipt: the public key of the log: %w", err)
	}
	return &Policy{log: log, quorum: none}, nil
}

// ParsePolicy reads a policy in the form of c2sp.org/tlog-policy: lines that start with
// log, witness, group and quorum.
func ParsePolicy(text string) (*Policy, error) {
	p := &Policy{witnesses: map[string]*witness{}, groups: map[string]group{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := p.read(fields); err != nil {
			return nil, fmt.Errorf("receipt: line %d of the policy: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("receipt: read the policy: %w", err)
	}
	if p.log == nil || p.quorum == "" {
		return nil, errors.New("receipt: the policy needs a line log and a line quorum")
	}
	return p, nil
}

func (p *Policy) read(fields []string) (err error) {
	switch {
	case fields[0] == "log" && (len(fields) == 2 || len(fields) == 3) && p.log == nil:
		p.log, err = newLogVerifier(fields[1])
		return err
	case fields[0] == "witness" && (len(fields) == 3 || len(fields) == 4) && p.isNew(fields[1]):
		v, err := newWitnessVerifier(fields[2])
		if err != nil {
			return err
		}
		if p.hasKey(v) {
			return errors.New("this witness has another name already")
		}
		w := &witness{Verifier: v}
		if len(fields) == 4 {
			w.url = fields[3]
		}
		p.witnesses[fields[1]] = w
		return nil
	case fields[0] == "group" && len(fields) > 3 && p.isNew(fields[1]):
		return p.readGroup(fields[1], fields[2], fields[3:])
	case fields[0] == "quorum" && len(fields) == 2 && p.quorum == "":
		if fields[1] != none && !p.isKnown(fields[1]) {
			return errors.New("the quorum is not a witness or a group that was named before")
		}
		p.quorum = fields[1]
		return nil
	}
	return errors.New("it is not a line of a policy, or is there twice")
}

func (p *Policy) readGroup(name, least string, members []string) error {
	g := group{members: members}
	switch least {
	case "any":
		g.least = 1
	case "all":
		g.least = len(members)
	default:
		n, err := checkpoint.ParseNumber(least)
		if err != nil || n < 1 || n > int64(len(members)) {
			return errors.New("a group needs any, all, or a number of its members")
		}
		g.least = int(n)
	}
	counted := map[string]bool{}
	for _, m := range members {
		if !p.isKnown(m) || counted[m] {
			return errors.New("a member of the group was not named before, or is in it twice")
		}
		counted[m] = true
	}
	p.groups[name] = g
	return nil
}

// hasKey reports whether the policy has the key of a witness: under two names it would
// count twice.
func (p *Policy) hasKey(v note.Verifier) bool {
	for _, w := range p.witnesses {
		if w.Name() == v.Name() && w.KeyHash() == v.KeyHash() {
			return true
		}
	}
	return false
}

func (p *Policy) isKnown(name string) bool {
	_, isGroup := p.groups[name]
	return p.witnesses[name] != nil || isGroup
}

func (p *Policy) isNew(name string) bool { return name != none && !p.isKnown(name) }

// Log returns the name of the log.
func (p *Policy) Log() string { return p.log.Name() }

// Witnesses returns the addresses at which witnesses take checkpoints, by name.
func (p *Policy) Witnesses() map[string]string {
	all := map[string]string{}
	for name, w := range p.witnesses {
		if w.url != "" {
			all[name] = w.url
		}
	}
	return all
}

// verifiers returns all keys of the policy.
func (p *Policy) verifiers() note.Verifiers {
	all := []note.Verifier{p.log}
	for _, w := range p.witnesses {
		all = append(all, w.Verifier)
	}
	return note.VerifierList(all...)
}

// Satisfied reports whether the policy needs no more witnesses than these.
func (p *Policy) Satisfied(seen map[string]time.Time) bool { return p.satisfied(p.quorum, seen) }

// satisfied reports whether a witness or a group of them is among these.
func (p *Policy) satisfied(name string, seen map[string]time.Time) bool {
	if name == none {
		return true
	}
	g, isGroup := p.groups[name]
	if !isGroup {
		_, ok := seen[name]
		return ok
	}
	n := 0
	for _, m := range g.members {
		if p.satisfied(m, seen) {
			n++
		}
	}
	return n >= g.least
}

// Open verifies a signed checkpoint: the signature of the log, and which witnesses have
// seen it and when. It returns the text that they signed. Signatures of keys that are not
// in the policy are ignored; a wrong one of a key that is there is an error.
func (p *Policy) Open(signed string) (text string, witnessed map[string]time.Time, err error) {
	if !strictSignatures(signed) {
		return "", nil, ErrCheckpoint
	}
	opened, err := note.Open([]byte(signed), p.verifiers())
	if err != nil {
		return "", nil, ErrCheckpoint
	}
	witnessed = map[string]time.Time{}
	ofLog := false
	for _, s := range opened.Sigs {
		ofLog = ofLog || s.Name == p.log.Name() && s.Hash == p.log.KeyHash()
		for name, w := range p.witnesses {
			if s.Name == w.Name() && s.Hash == w.KeyHash() {
				witnessed[name] = cosignedAt(s.Base64)
			}
		}
	}
	if !ofLog {
		return "", nil, ErrCheckpoint
	}
	return opened.Text, witnessed, nil
}
