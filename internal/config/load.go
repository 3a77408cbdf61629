package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/sethvargo/go-envconfig"
)

const (
	prefix     = "LINEPROOF_"
	fileSuffix = "_FILE"
)

// Error is every complaint about the settings. Each complaint is a sentence
// that names the setting and says what to do; none repeats a value.
type Error struct {
	Complaints []string
}

// Error implements error.
func (e *Error) Error() string {
	return "config: " + strings.Join(e.Complaints, "\nconfig: ")
}

// complaints gathers what is wrong, so that nobody corrects one setting per
// start, and remembers which settings cannot be relied on in further checks.
type complaints struct {
	texts   []string
	settled map[string]bool
}

// about adds a complaint about the setting name.
func (c *complaints) about(name, format string, args ...any) {
	c.texts = append(c.texts, fmt.Sprintf(format, args...))
	c.settled[name] = true
}

// none reports whether nothing was said about any of names so far.
func (c *complaints) none(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return c.settled[name] })
}

// Load reads the settings from environ, which has the form of [os.Environ], and
// checks them. The error is an [*Error] with every complaint. A variable that
// is set to nothing counts as not set, except where its documentation says
// otherwise.
func Load(ctx context.Context, environ []string) (Config, error) {
	var c Config
	env := parse(environ)
	wrong := &complaints{settled: map[string]bool{}}
	fields := reflect.ValueOf(&c).Elem()
	for i, s := range settings() {
		s.read(ctx, wrong, env, fields.Field(i))
	}
	c.complete(wrong)
	c.check(wrong)
	unknown(wrong, env)
	if len(wrong.texts) > 0 {
		return Config{}, &Error{Complaints: wrong.texts}
	}
	return c, nil
}

// parse turns environ into a map. Of two entries with one name the last counts,
// as it does when a process is started.
func parse(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// read decodes one setting into field. The library stops at its first error and
// repeats values in its texts, so each setting is decoded as a struct of its
// own and the complaint is written here.
func (s setting) read(ctx context.Context, wrong *complaints, env map[string]string, field reflect.Value) {
	value, found := s.lookup(wrong, env)
	if !wrong.none(s.name) {
		return
	}
	target := reflect.New(reflect.StructOf([]reflect.StructField{s.field}))
	err := envconfig.ProcessWith(ctx, &envconfig.Config{
		Target:   target.Interface(),
		Lookuper: envconfig.LookuperFunc(func(string) (string, bool) { return value, found }),
	})
	decoded := target.Elem().Field(0)
	if err != nil || !s.allows(decoded) {
		wrong.about(s.name, "%s is not valid: set it to %s", s.name, s.wants())
		return
	}
	field.Set(decoded)
}

// lookup finds the text of the setting in env, or for a secret in the file that
// env names.
func (s setting) lookup(wrong *complaints, env map[string]string) (string, bool) {
	value, found := env[s.name]
	found = found && (value != "" || s.emptyCounts)
	path := env[s.name+fileSuffix]
	if !s.secret || path == "" {
		return value, found
	}
	if found {
		wrong.about(s.name, "%s and %s%s are both set: keep one of them", s.name, s.name, fileSuffix)
		return "", false
	}
	text, err := readSecret(path)
	if err != nil {
		wrong.about(s.name, "%s%s does not lead to a value: %v; name a file that holds the value and nothing else", s.name, fileSuffix, err)
		return "", false
	}
	return text, true
}

// readSecret returns what the file holds without the line end that editors add.
// Its errors leave out the path, which may be a secret set under the wrong name.
func readSecret(path string) (string, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names the file; that is what the setting is for
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return "", pathErr.Err
	}
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if text == "" {
		return "", errors.New("the file is empty")
	}
	return text, nil
}

// complete fills in the defaults that only the machine knows.
func (c *Config) complete(wrong *complaints) {
	if c.Argon2Parallel == 0 {
		c.Argon2Parallel = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if c.Node != "" {
		return
	}
	name, err := os.Hostname()
	if err != nil {
		wrong.about("LINEPROOF_NODE", "LINEPROOF_NODE is not set and this machine does not tell its host name: set it to a name of your choice")
		return
	}
	c.Node = name
}
