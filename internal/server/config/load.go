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

// Error has every problem with the settings. Each text names the setting and says
// what to do; none contains a value.
type Error struct {
	Problems []string
}

// Error implements error.
func (e *Error) Error() string {
	return "config: " + strings.Join(e.Problems, "\nconfig: ")
}

// problems collects what is wrong with the settings, so that an operator sees all
// of it at one start, and for which settings further checks make no sense.
type problems struct {
	texts    []string
	reported map[string]bool
}

// add adds a problem with the setting name.
func (c *problems) add(name, format string, args ...any) {
	c.texts = append(c.texts, fmt.Sprintf(format, args...))
	c.reported[name] = true
}

// none reports whether no problem was reported for any of names so far.
func (c *problems) none(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return c.reported[name] })
}

// Load reads the settings from environ, which has the form of [os.Environ], and
// checks them. The error is an [*Error] with every problem. An empty variable
// counts as not set, unless its documentation says otherwise.
func Load(ctx context.Context, environ []string) (Config, error) {
	var c Config
	env := parse(environ)
	found := &problems{reported: map[string]bool{}}
	fields := reflect.ValueOf(&c).Elem()
	for i, s := range settings() {
		s.read(ctx, found, env, fields.Field(i))
	}
	c.complete(found)
	c.check(found)
	unknown(found, env)
	if len(found.texts) > 0 {
		return Config{}, &Error{Problems: found.texts}
	}
	return c, nil
}

// parse turns environ into a map. Of two entries with the same name the last one
// counts, as when a process is started.
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
// includes values in its texts, so each setting is decoded as a struct of its own
// and the problem is written here.
func (s setting) read(ctx context.Context, found *problems, env map[string]string, field reflect.Value) {
	value, isSet := s.lookup(found, env)
	if !found.none(s.name) {
		return
	}
	target := reflect.New(reflect.StructOf([]reflect.StructField{s.field}))
	err := envconfig.ProcessWith(ctx, &envconfig.Config{
		Target:   target.Interface(),
		Lookuper: envconfig.LookuperFunc(func(string) (string, bool) { return value, isSet }),
	})
	decoded := target.Elem().Field(0)
	if err != nil || !s.allows(decoded) {
		found.add(s.name, "%s is not valid: set it to %s", s.name, s.wants())
		return
	}
	field.Set(decoded)
}

// lookup finds the text of the setting in env, or for a secret in the file that
// env names.
func (s setting) lookup(found *problems, env map[string]string) (string, bool) {
	value, isSet := env[s.name]
	isSet = isSet && (value != "" || s.emptyCounts)
	path := env[s.name+fileSuffix]
	if !s.secret || path == "" {
		return value, isSet
	}
	if isSet {
		found.add(s.name, "%s and %s%s are both set: keep one of them", s.name, s.name, fileSuffix)
		return "", false
	}
	text, err := readSecret(path)
	if err != nil {
		found.add(s.name, "%s%s could not be read: %v; set it to a file that contains the value and nothing else", s.name, fileSuffix, err)
		return "", false
	}
	return text, true
}

// readSecret returns the content of the file without the line end that editors add.
// Its errors leave out the path, which may be a secret set under the wrong name.
func readSecret(path string) (string, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the path is a setting
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

// complete sets the defaults that depend on the machine.
func (c *Config) complete(found *problems) {
	if c.Argon2Parallel == 0 {
		c.Argon2Parallel = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if c.Node != "" {
		return
	}
	name, err := os.Hostname()
	if err != nil {
		found.add("LINEPROOF_NODE", "LINEPROOF_NODE is not set and the host name of this machine is unknown: set it to a name of your choice")
		return
	}
	c.Node = name
}
