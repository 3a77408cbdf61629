package monitor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/platform/statefile"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// state is the persistent state of a monitor.
type state struct {
	Origin   string    `json:"origin"`
	Size     int64     `json:"size"`
	Root     []byte    `json:"root"`
	Edge     []byte    `json:"edge"`
	Note     string    `json:"note"`     // the checkpoint
	Cosigned time.Time `json:"cosigned"` // the newest signature of a witness on the newest one that enough have signed
	Epochs   epochs    `json:"epochs"`
	Last     lastOf    `json:"last"`
	// Announced are the keys of the log that its entries have named, the newest last.
	Announced []announced `json:"announced,omitempty"`
}

func (s *state) root() (h merkle.Hash) {
	copy(h[:], s.Root)
	return h
}

func (s *state) clone() *state {
	next := *s
	next.Announced = slices.Clone(s.Announced)
	next.Epochs = epochs{}
	for epoch, runs := range s.Epochs {
		next.Epochs[epoch] = slices.Clone(runs)
	}
	return &next
}

// epochs are the numbers of the batches that were seen, by epoch: runs without a gap, of
// which there are few.
type epochs map[int64][]run

// run is a run of numbers, from the first to before the last.
type run struct{ From, To int64 }

// add adds a number, and returns false if it was seen before.
func (e epochs) add(epoch, n int64) bool {
	runs := e[epoch]
	// The first run that ends after n, or at it.
	i, _ := slices.BinarySearchFunc(runs, n, func(r run, n int64) int { return cmp.Compare(r.To, n) })
	switch {
	case i < len(runs) && runs[i].To == n: // n continues this run, unless the next one has it
		if i+1 < len(runs) && runs[i+1].From == n {
			return false
		}
		runs[i].To++
		if i+1 < len(runs) && runs[i+1].From == runs[i].To {
			runs[i].To = runs[i+1].To
			runs = slices.Delete(runs, i+1, i+2)
		}
	case i < len(runs) && runs[i].From <= n:
		return false
	case i < len(runs) && runs[i].From == n+1:
		runs[i].From = n
	default:
		runs = slices.Insert(runs, i, run{n, n + 1})
	}
	e[epoch] = runs
	return true
}

func (m *Monitor) file() string { return filepath.Join(m.Dir, "state.json") }

// load reads the state. Without one the log is read from its beginning.
func (m *Monitor) load() (s state, err error) {
	text, err := os.ReadFile(m.file())
	if errors.Is(err, fs.ErrNotExist) {
		return state{Origin: m.Policy.Log()}, nil
	}
	if err != nil {
		return s, fmt.Errorf("monitor: read the state: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("monitor: the state is damaged: %w", err)
	}
	if s.Origin != m.Policy.Log() {
		return s, fmt.Errorf("monitor: the state in %s is that of another log", m.Dir)
	}
	return s, nil
}

// save replaces the state.
func (m *Monitor) save(s *state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("monitor: write the state: %w", err)
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return fmt.Errorf("monitor: write the state: %w", err)
	}
	return fault.Wrap(statefile.Replace(m.file(), text), "monitor: write the state")
}

// keep writes a violation to a directory of its own: the signed texts that show it, and what
// they show in words.
func (m *Monitor) keep(v *Violation) error {
	dir := filepath.Join(m.Dir, "violation-"+m.Now().UTC().Format("20060102T150405.000"))
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is meant to be shown
		return fmt.Errorf("monitor: keep the evidence: %w", err)
	}
	head := "The log " + m.Policy.Log() + " has done what it must not do: " + v.What + ".\n"
	if v.Unconfirmed {
		head = "What the log " + m.Policy.Log() + " shows is not confirmed: " + v.What + ".\n" +
			"Nothing that the log has shown contradicts it. Ask the operators of the witnesses whether they were away.\n"
	}
	v.Evidence["README.txt"] = head +
		"The other files are what it has published, with its signatures. Anybody can verify them with the public key of the log.\n"
	for name, text := range v.Evidence {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("monitor: keep the evidence: %w", err)
		}
	}
	return nil
}
