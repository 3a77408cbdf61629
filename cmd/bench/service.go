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

// serviceScript runs the server while its standard input is open, and prints its
// process id.
const serviceScript = `
"$0" serve </dev/null >>"$1" 2>&1 &
server=$!
echo "$server"
read -r _
kill -TERM "$server" 2>/dev/null
wait "$server" 2>/dev/null`

// maxLogBytes is the size at which the log of a server is truncated. Writing a log
// line per request is part of what is measured.
const maxLogBytes = 64 << 20

// service is a running `lineproof serve`.
type service struct {
	address    string
	pid        int
	supervisor *supervisor
	log        string
	stopLog    context.CancelFunc
}

// buildServer returns the path of the server: the given one, or one that it
// builds.
func (t *testbed) buildServer(ctx context.Context, o *options) (string, error) {
	if o.server != "" {
		path, err := filepath.Abs(o.server)
		if err != nil {
			return "", fmt.Errorf("bench: find the server: %w", err)
		}
		return path, nil
	}
	path := filepath.Join(t.dir, "lineproof")
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "github.com/lineproof/lineproof/cmd/lineproof") //nolint:gosec // our own path
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("bench: build the server: %w\n%s", err, out)
	}
	return path, nil
}

// versionOf returns the version that a server says it has.
func versionOf(ctx context.Context, program string, settings []string) (string, error) {
	cmd := exec.CommandContext(ctx, program, "version", "--json")
	cmd.Env = append(os.Environ(), settings...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("bench: read the version of the server: %w", err)
	}
	var v struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return "", fmt.Errorf("bench: read the version of the server: %w", err)
	}
	return v.Version, nil
}

// unlimitedSettings are rate limits that are counted as usual but never reached.
func unlimitedSettings() []string {
	all := []string{"LINEPROOF_DAY_NUMBERS=0", "LINEPROOF_SPONSOR_DAY_NUMBERS=0", "LINEPROOF_YEAR_NUMBERS=0", "LINEPROOF_SPONSOR_YEAR_NUMBERS=0", "LINEPROOF_SCAN_GUARD=watch"} // the load looks like number scanning
	all = append(all, "LINEPROOF_KEY_CONCURRENT=100000")
	for _, of := range []string{"KEY", "ENTITY", "ADDRESS"} {
		all = append(all, "LINEPROOF_"+of+"_RATE=1000000", "LINEPROOF_"+of+"_BURST=1000000")
	}
	return all
}

// startServer starts the server and waits until it listens. Settings that the
// bench does not need are the defaults.
func (t *testbed) startServer(ctx context.Context, program, name string, settings ...string) (*service, error) {
	home := filepath.Join(t.dir, name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("bench: create a directory: %w", err)
	}
	s := &service{log: filepath.Join(home, "log")}
	environment := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(),
		"LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0", "LINEPROOF_DATABASE_URL=" + t.url,
		"LINEPROOF_PEPPERS=" + t.pepper.Reveal(), "LINEPROOF_DATA=" + filepath.Join(home, "data"), "LINEPROOF_NODE=bench-" + name,
		"LINEPROOF_DRAIN_TIMEOUT=5s",
	}, append(unlimitedSettings(), settings...)...)
	var err error
	if s.supervisor, err = startSupervisorIn(ctx, home, environment, serviceScript, program, s.log); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(s.supervisor.out).ReadString('\n')
	if err == nil {
		s.pid, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err == nil {
		err = s.awaitListening(ctx)
	}
	if err != nil {
		s.supervisor.stop()
		return nil, fmt.Errorf("bench: start the server %s: %w\n%s", name, err, s.logTail())
	}
	var keep context.Context
	keep, s.stopLog = context.WithCancel(context.WithoutCancel(ctx))
	go s.trimLog(keep)
	return s, nil
}

// awaitListening waits for the log line with the address.
func (s *service) awaitListening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		text, _ := os.ReadFile(s.log) // it may not exist yet
		for line := range bytes.Lines(text) {
			var entry struct {
				Message string `json:"msg"`
				Public  string `json:"public"`
			}
			if json.Unmarshal(line, &entry) == nil && entry.Message == "listening" {
				s.address = entry.Public
				return nil
			}
		}
		if !alive(s.pid) {
			return errors.New("it exited before it listened")
		}
		wait(ctx, 20*time.Millisecond)
	}
	return errors.New("it does not listen")
}

// trimLog truncates the log when it is large, so that a long run does not fill
// the disk.
func (s *service) trimLog(ctx context.Context) {
	for ctx.Err() == nil {
		if info, err := os.Stat(s.log); err == nil && info.Size() > maxLogBytes {
			_ = os.Truncate(s.log, 0) // the server appends, so it continues at the new end
		}
		wait(ctx, time.Second)
	}
}

// logTail returns the last 4 KiB of the log.
func (s *service) logTail() string {
	text, _ := os.ReadFile(s.log)
	return string(text[max(0, len(text)-4<<10):])
}

// stop shuts the server down and waits for its exit.
func (s *service) stop() {
	s.stopLog()
	s.supervisor.stop()
}

// checkFirstAnswer sends one request with net/http, checks that the answer is
// right, because a service that only refuses is fast too, and returns it.
func (t *testbed) checkFirstAnswer(ctx context.Context, s *service) (cannedResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body := `{"phoneNumber":"+` + strconv.FormatInt(firstNumber, 10) + `"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+verifyPath, strings.NewReader(body))
	if err != nil {
		return cannedResponse{}, fmt.Errorf("bench: verify a number: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+t.key.Text.Reveal())
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return cannedResponse{}, fmt.Errorf("bench: verify a number: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return cannedResponse{}, fmt.Errorf("bench: verify a number: %w", err)
	}
	var answer struct {
		Data struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || resp.StatusCode != http.StatusOK || answer.Data.Status != "NORMAL" {
		return cannedResponse{}, fmt.Errorf("bench: the first answer is wrong: HTTP status %d, line status %q", resp.StatusCode, answer.Data.Status)
	}
	for _, name := range []string{"Date", "Content-Length", "Connection"} { // net/http adds these itself
		resp.Header.Del(name)
	}
	return cannedResponse{Header: resp.Header, Body: text}, nil
}
