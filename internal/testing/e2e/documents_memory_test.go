package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/s3test"
)

const (
	largest   = 10 << 20 // the largest document that is taken by default
	allowance = 128 << 20
	enormous  = 5_000_000_000
)

// As many uploads as the settings of the test say, of the largest size and all
// under way at the same moment, cost the program as it is shipped no more than
// 128 MiB above what it takes idle; and a body of 5 GB is refused before much of
// it is read. With files in a directory, and in a bucket.
func TestDocumentsMemory(t *testing.T) {
	program := filepath.Join(t.TempDir(), "lineproof")
	if said, err := exec.Command("go", "build", "-o", program, "../../../cmd/lineproof").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, said)
	}
	uploads := size(t, "LINEPROOF_E2E_UPLOADS", 10)
	for _, kind := range []string{"directory", "bucket"} {
		t.Run(kind, func(t *testing.T) {
			w := newFixture(t, pgtest.URL(t))
			var settings []string
			if kind == "bucket" {
				s3 := s3test.New(t)
				settings = bucketSettings(s3, s3.URL())
			}
			p := startProgram(t, w, program, settings...)
			together(t, w, p, 1) // so that what is made once is made
			idle := p.memory(t, "VmRSS")
			together(t, w, p, uploads)
			peak := p.memory(t, "VmHWM")
			t.Logf("%d uploads of %d MiB at once: %d MiB at the most, %d MiB above idle", uploads, largest>>20, peak>>20, (peak-idle)>>20)
			if peak-idle > allowance {
				t.Errorf("that is more than %d MiB above idle", allowance>>20)
			}
			for _, chunked := range []bool{false, true} {
				status, taken := deluge(t, w, p, chunked)
				t.Logf("a body of 5 GB (chunked: %t) was answered with %d after %.1f MiB", chunked, status, float64(taken)/(1<<20))
				// What lies in the buffers of both kernels counts as taken here.
				if status != http.StatusRequestEntityTooLarge || taken > 2*largest+16<<20 {
					t.Error("it should be refused with 413 soon after the limit")
				}
			}
			if after := p.memory(t, "VmHWM"); after-idle > allowance {
				t.Errorf("5 GB took it to %d MiB above idle", (after-idle)>>20)
			}
			if left := must(filepath.Glob(filepath.Join(w.data, "spool", "*")))(t); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// memory reads a line of what the kernel knows about the process, in bytes.
func (p *instance) memory(t *testing.T, what string) int64 {
	t.Helper()
	text := must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID())))(t)
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, what+":"); found {
			kib := must(strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64))(t)
			return kib << 10
		}
	}
	t.Fatalf("the kernel says nothing of %s", what)
	return 0
}

// uploadHead and uploadTail stand around the file in an upload.
func uploadHead(w *fixture) []byte {
	return fmt.Appendf(nil, "--x\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\nOTHER\r\n--x\r\nContent-Disposition: form-data; name=\"entityUid\"\r\n\r\n%s\r\n"+
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"large.png\"\r\n\r\n\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", w.telco.ID)
}

const uploadTail = "\r\n--x--\r\n"

// together sends so many documents of the largest size. None of them is sent to
// its end before half of each was taken.
func together(t *testing.T, w *fixture, p *instance, uploads int) {
	t.Helper()
	var halfway, done sync.WaitGroup
	halfway.Add(uploads)
	for i := range uploads {
		done.Go(func() {
			head := uploadHead(w)
			picture := largest - (len(head) - bytes.Index(head, []byte("\x89PNG")))
			rest := &io.LimitedReader{R: rand.NewChaCha8([32]byte{byte(i)}), N: int64(picture)}
			first := true
			body := io.MultiReader(bytes.NewReader(head), io.LimitReader(rest, int64(picture)/2), readerFunc(func(b []byte) (int, error) {
				if first {
					first = false
					halfway.Done()
					halfway.Wait()
				}
				return rest.Read(b)
			}), strings.NewReader(uploadTail))
			req := must(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.public+uploadPath, body))(t)
			req.ContentLength = int64(len(head) + picture + len(uploadTail))
			req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			req.Header.Set("Authorization", "Bearer "+w.token)
			resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
			if err != nil {
				t.Errorf("upload %d: %v", i, err)
				return
			}
			defer resp.Body.Close()
			if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
				t.Errorf("upload %d was answered with %d: %s", i, resp.StatusCode, said)
			}
		})
	}
	done.Wait()
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// deluge sends a document of 5 GB until it is answered, and returns the answer
// and how much was taken of it.
func deluge(t *testing.T, w *fixture, p *instance, chunked bool) (status int, taken int64) {
	t.Helper()
	conn := must(net.Dial("tcp", p.public))(t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	length := "Content-Length: " + strconv.Itoa(enormous)
	if chunked {
		length = "Transfer-Encoding: chunked"
	}
	answered := make(chan *http.Response, 1)
	go func() {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			resp = &http.Response{Body: http.NoBody}
		}
		_ = resp.Body.Close() // its head is all that is looked at
		answered <- resp
	}()
	send := func(b []byte) error {
		if chunked {
			b = fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b)
		}
		n, err := conn.Write(b)
		taken += int64(n)
		return err
	}
	_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: lineproof.test\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=x\r\n%s\r\n\r\n", uploadPath, w.token, length)
	if err == nil {
		err = send(uploadHead(w))
	}
	piece := make([]byte, 256<<10)
	for err == nil && taken < enormous && len(answered) == 0 {
		err = send(piece)
	}
	return (<-answered).StatusCode, taken
}
