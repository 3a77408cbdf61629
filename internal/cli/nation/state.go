package nation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// state is the memory of the nation between two runs: what was created, with the
// secrets that are shown once, and how far the traffic has come. It is a file that only
// its owner can read.
type state struct {
	mu   sync.Mutex
	file string

	Database  string            `json:"database"` // the id of the database, so that it is not used with another
	Lines     int64             `json:"lines"`
	AsOf      time.Time         `json:"asOf"` // of the snapshots
	Done      map[string]bool   `json:"done"`
	Addresses map[string]string `json:"addresses"`
	Clients   map[string]secret `json:"clients"`
	Entities  map[string]string `json:"entities"` // name to entityUid
	Keys      map[string]secret `json:"keys"`
	Accounts  []account         `json:"accounts"`
	Numbers   map[string]string `json:"numbers"` // case to number
	Cursors   map[string]int64  `json:"cursors"` // how many events of each operator's were told
	Feed      string            `json:"feed"`    // position of the bank in its feed
}

// secret is an id with its secret.
type secret struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// account is somebody who can log in.
type account struct {
	Role     string `json:"role"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

const stateFile = "nation.json"

// readState reads the file, or returns the state of a nation that has not begun.
func readState(dir string) (*state, error) {
	s := &state{file: filepath.Join(dir, stateFile)}
	text, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("nation: %w", err)
	default:
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("nation: %s is damaged; delete %s and empty the database to begin anew: %w", s.file, dir, err)
		}
	}
	for _, m := range []*map[string]secret{&s.Clients, &s.Keys} {
		if *m == nil {
			*m = map[string]secret{}
		}
	}
	for _, m := range []*map[string]string{&s.Addresses, &s.Entities, &s.Numbers} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	if s.Done == nil {
		s.Done = map[string]bool{}
	}
	if s.Cursors == nil {
		s.Cursors = map[string]int64{}
	}
	return s, nil
}

func (s *state) isDone(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Done[what]
}

func (s *state) done(what string) error {
	s.mu.Lock()
	s.Done[what] = true
	s.mu.Unlock()
	return s.save()
}

// save writes the file: to another one first, so that a crash leaves the old or the new.
func (s *state) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	if err := os.WriteFile(s.file+".new", text, 0o600); err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	return fault.Wrap(os.Rename(s.file+".new", s.file), "nation")
}

// next returns the next number of a sequence, which goes on when the nation is run again.
func (s *state) next(sequence string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Cursors[sequence]++
	return s.Cursors[sequence]
}

func (s *state) key(name string) secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Keys[name]
}

func (s *state) setKey(name string, k secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Keys[name] = k
}

func (s *state) setNumber(what, number string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Numbers[what] = number
}

func (s *state) feed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Feed
}

func (s *state) setFeed(position string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Feed = position
}

// account returns the account with the address, with a new password unless it exists.
func (s *state) account(role, name, email string) (a account, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.Accounts {
		if a.Email == email {
			return a, false
		}
	}
	return account{Role: role, Name: name, Email: email, Password: newPassword()}, true
}

func (s *state) addAccount(a account) error {
	s.mu.Lock()
	s.Accounts = append(s.Accounts, a)
	s.mu.Unlock()
	return s.save()
}

func (s *state) password(email string) string {
	a, _ := s.account("", "", email)
	return a.Password
}
