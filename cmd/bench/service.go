package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// serviceScript runs the server for as long as its standard input stays open,
// and says its process id.
const serviceScript = `
"$0" serve </dev/null >>"$1" 2>&1 &
server=$!
echo "$server"
read -r _
kill -TERM "$server" 2>/dev/null
wait "$server" 2>/dev/null`

// mostLog is how large the log of a server may grow before it is emptied. The
// server writes a line for each request, and that is part of what is measured.
const mostLog = 64 << 20

// service is a running `lineproof serve`.
type service struct {
	address string
	pid     int
	guard   *guard
	log     string
	stopLog context.CancelFunc
}

// build returns the path of the server: the one that was named, or one that is
// built now.
func (w *world) build(ctx context.Context, o *options) (string, error) {
	if o.server != "" {
		path, err := filepath.Abs(o.server)
		if err != nil {
			return "", fmt.Errorf("bench: find the server: %w", err)
		}
		return path, nil
	}
	path := filepath.Join(w.dir, "lineproof")
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "github.com/lineproof/lineproof/cmd/lineproof") //nolint:gosec // our own path
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("bench: build the server: %w\n%s", err, out)
	}
	return path, nil
}

// unlimited are rates that nobody reaches: they are counted as usual, and refuse
// nobody.
func unlimited() []string {
	all := []string{"LINEPROOF_DAY_NUMBERS=0", "LINEPROOF_SCAN_GUARD=watch"} // what is asked looks like a scan
	for _, of := range []string{"KEY", "ENTITY", "ADDRESS"} {
		all = append(all, "LINEPROOF_"+of+"_RATE=1000000", "LINEPROOF_"+of+"_BURST=1000000")
	}
	return all
}

// start runs the server and waits until it listens. All settings but those that
// it must have are the usual ones.
func (w *world) start(ctx context.Context, program, name string, settings ...string) (*service, error) {
	home := filepath.Join(w.dir, name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("bench: make a directory: %w", err)
	}
	s := &service{log: filepath.Join(home, "log")}
	environment := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(),
		"LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0", "LINEPROOF_DATABASE_URL=" + w.url,
		"LINEPROOF_PEPPERS=" + w.pepper.Reveal(), "LINEPROOF_DATA=" + filepath.Join(home, "data"), "LINEPROOF_NODE=bench-" + name,
		"LINEPROOF_DRAIN_TIMEOUT=5s",
	}, append(unlimited(), settings...)...)
	var err error
	if s.guard, err = startGuardIn(ctx, home, environment, serviceScript, program, s.log); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(s.guard.out).ReadString('\n')
	if err == nil {
		s.pid, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err == nil {
		err = s.awaitListening(ctx)
	}
	if err != nil {
		s.guard.stop()
		return nil, fmt.Errorf("bench: start the server %s: %w\n%s", name, err, s.tail())
	}
	var keep context.Context
	keep, s.stopLog = context.WithCancel(context.WithoutCancel(ctx))
	go s.keepLogSmall(keep)
	return s, nil
}

// awaitListening waits for the line of the log that says where.
func (s *service) awaitListening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		text, _ := os.ReadFile(s.log) // it may not be there yet
		for line := range bytes.Lines(text) {
			var said struct {
				Message string `json:"msg"`
				Public  string `json:"public"`
			}
			if json.Unmarshal(line, &said) == nil && said.Message == "listening" {
				s.address = said.Public
				return nil
			}
		}
		if !alive(s.pid) {
			return errors.New("it ended before it listened")
		}
		wait(ctx, 20*time.Millisecond)
	}
	return errors.New("it does not listen")
}

// keepLogSmall empties the log from time to time, so that a long run does not
// fill the disk.
func (s *service) keepLogSmall(ctx context.Context) {
	for ctx.Err() == nil {
		if info, err := os.Stat(s.log); err == nil && info.Size() > mostLog {
			_ = os.Truncate(s.log, 0) // the server appends, so it goes on at the beginning
		}
		wait(ctx, time.Second)
	}
}

// tail returns the end of the log.
func (s *service) tail() string {
	text, _ := os.ReadFile(s.log)
	return string(text[max(0, len(text)-4<<10):])
}

// stop asks the server to end, and waits until it has.
func (s *service) stop() {
	s.stopLog()
	s.guard.stop()
}

// first asks one question in the usual way and returns the answer, after it has
// seen that it is the right one: a service that refuses is quick, too.
func (w *world) first(ctx context.Context, s *service) (sameAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body := `{"phoneNumber":"+` + strconv.FormatInt(firstNumber, 10) + `"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+verifyPath, strings.NewReader(body))
	if err != nil {
		return sameAnswer{}, fmt.Errorf("bench: ask: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+w.key.Text.Reveal())
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return sameAnswer{}, fmt.Errorf("bench: ask: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return sameAnswer{}, fmt.Errorf("bench: ask: %w", err)
	}
	var said struct {
		Data struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &said); err != nil || resp.StatusCode != http.StatusOK || said.Data.Status != "NORMAL" {
		return sameAnswer{}, fmt.Errorf("bench: the first answer is not right: status %d, line %q", resp.StatusCode, said.Data.Status)
	}
	for _, name := range []string{"Date", "Content-Length", "Connection"} { // net/http makes these itself
		resp.Header.Del(name)
	}
	return sameAnswer{Header: resp.Header, Body: text}, nil
}
