package alerts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
)

// organisation is a relying party with an API key.
type organisation struct{ EntityUID, KeyID, APIKey string }

// organisation creates one.
func (s *site) organisation(ctx context.Context, name string, rights ...string) (o organisation, err error) {
	err = s.created(ctx, &o, "entity", "create", "--json", "--name", name, "--cac", fmt.Sprint("RC", time.Now().UnixNano()%10_000_000))
	if err != nil {
		return o, err
	}
	args := []string{"key", "create", "--json", "--entity", o.EntityUID, "--name", name}
	for _, right := range rights {
		args = append(args, "--right", right)
	}
	return o, s.created(ctx, &o, args...)
}

// created runs a command and decodes what it prints.
func (s *site) created(ctx context.Context, into any, args ...string) error {
	text, err := s.command(ctx, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%v printed %s: %w", args, text, err)
	}
	return nil
}

// faultsOfCallers are what organisations do and what is done to what they have.
func (s *site) faultsOfCallers() []fault {
	var scanner, forged, sender organisation
	end := func() {}
	return []fault{
		{
			"an organisation verifies more numbers than its budget allows", "LineproofGuard", false,
			func(ctx context.Context) (err error) {
				if scanner, err = s.organisation(ctx, "Many Numbers"); err != nil {
					return err
				}
				if _, err := s.command(ctx, "limits", "set", "--entity", scanner.EntityUID, "--day-numbers", "5", "--reason", "A test"); err != nil {
					return err
				}
				for i := range 8 {
					err = s.verify(ctx, scanner.APIKey, lineOf(i))
				}
				if err == nil {
					return errors.New("the budget is used up, and numbers are verified nevertheless")
				}
				return nil
			},
			func(ctx context.Context) error {
				_, err := s.command(ctx, "limits", "set", "--entity", scanner.EntityUID, "--day-numbers", "1000", "--reason", "It may")
				if err != nil {
					return err
				}
				return until(ctx, "the organisation is answered", func(ctx context.Context) error { return s.verify(ctx, scanner.APIKey, lineOf(9)) })
			},
		},
		{
			"somebody raises the rate of a key in the database", "LineproofForgedRows", false,
			func(ctx context.Context) (err error) {
				if forged, err = s.organisation(ctx, "Impatient"); err != nil {
					return err
				}
				if err := s.asOwner(ctx, `UPDATE api_key SET rate = 100000, burst = 100000 WHERE id = $1`, forged.KeyID); err != nil {
					return err
				}
				if s.verify(ctx, forged.APIKey, lineOf(1)) == nil {
					return errors.New("the key is accepted")
				}
				return nil
			},
			func(ctx context.Context) error {
				if _, err := s.command(ctx, "rows", "accept", "api_key", forged.KeyID, "--reason", "Its rate was raised by hand"); err != nil {
					return err
				}
				return until(ctx, "the key is accepted again", func(ctx context.Context) error { return s.verify(ctx, forged.APIKey, lineOf(1)) })
			},
		},
		{
			"the file of a job of 3 hours ago cannot be found", "LineproofFileJobLate", false,
			func(ctx context.Context) (err error) {
				if sender, err = s.organisation(ctx, "Large Files", "jobs"); err != nil {
					return err
				}
				return s.loseJobFile(ctx, sender.APIKey)
			},
			s.findJobFile,
		},
		{
			"more callers than connections, and each waits for a lock", "LineproofWaitsForConnections", false,
			func(ctx context.Context) error {
				if err := s.serve(ctx, "LINEPROOF_PEOPLE_CONNS=2"); err != nil {
					return err
				}
				o, err := s.organisation(ctx, "Many Callers", "jobs")
				if err != nil {
					return err
				}
				return s.crowd(ctx, &end, o.APIKey)
			},
			func(ctx context.Context) error { end(); return s.serve(ctx) },
		},
	}
}

// asOwner runs a statement as a person with psql does: the triggers fire.
func (s *site) asOwner(ctx context.Context, statement string, args ...any) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statement, args...)
	return err
}

// jobRows is how many rows the file of a job has: so many that the node is killed before they are
// answered.
const jobRows = 100_000

func (s *site) jobFiles() (at, away string) {
	at = filepath.Join(s.dir, "data", "jobs")
	return at, at + "-away"
}

// loseJobFile sends a file of numbers, and starts the node again without the directory that it
// stored the file in: as if the disk were not mounted.
func (s *site) loseJobFile(ctx context.Context, key string) error {
	file := filepath.Join(s.dir, "numbers.csv")
	if err := os.WriteFile(file, []byte("number\n"+strings.Repeat(lineOf(1)+"\n", jobRows)), 0o600); err != nil {
		return err
	}
	if _, err := s.commandWith(ctx, []string{"LINEPROOF_API_KEY=" + key}, "api", "jobs", "send", file); err != nil {
		return err
	}
	s.node.Kill()
	at, away := s.jobFiles()
	if err := os.Rename(at, away); err != nil {
		return err
	}
	if err := s.sql(ctx, `UPDATE file_job SET received_at = received_at - interval '3 hours' WHERE state IN ('checking', 'running')`); err != nil {
		return err
	}
	return s.serve(ctx)
}

// findJobFile ends that.
func (s *site) findJobFile(ctx context.Context) error {
	s.node.Kill()
	at, away := s.jobFiles()
	if err := errors.Join(os.RemoveAll(at), os.Rename(away, at)); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	return until(ctx, "the job is done", func(ctx context.Context) error {
		return s.holds(ctx, `SELECT count(*) = 1 FROM file_job WHERE state = 'done' AND answered = $1`, jobRows)
	})
}

// crowd lets ten callers list their jobs at once, while another session locks the table for most of
// the time, until end is called, which it sets.
func (s *site) crowd(ctx context.Context, end *func(), key string) error {
	var stop func()
	err := repeat(ctx, &stop, func(ctx context.Context) {
		_ = s.sql(ctx, `BEGIN; LOCK TABLE file_job IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.4); COMMIT`)
	})
	ctx, cancel := context.WithCancel(ctx)
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			for ctx.Err() == nil {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.public+"/api/v1/jobs", http.NoBody)
				if err != nil {
					return
				}
				request.Header.Set("Authorization", "Bearer "+key)
				_, _ = s.do(request)
				pause.For(ctx, 10*time.Millisecond)
			}
		})
	}
	*end = func() { cancel(); callers.Wait(); stop() }
	return err
}
