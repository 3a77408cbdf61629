package nation

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// decode reads the JSON that a command has printed.
func decode(text string, into any) error {
	return fault.Wrap(json.Unmarshal([]byte(text), into), "nation: read the output of a command")
}

// firstLines keeps what a command prints, and says when it has printed so many lines.
type firstLines struct {
	mu    sync.Mutex
	all   strings.Builder
	want  int
	ready chan struct{}
}

// Write implements [io.Writer].
func (f *firstLines) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := strings.Count(f.all.String(), "\n")
	f.all.Write(p)
	if before < f.want && strings.Count(f.all.String(), "\n") >= f.want {
		close(f.ready)
	}
	return len(p), nil
}

func (f *firstLines) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all.String()
}
