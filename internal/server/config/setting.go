package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// setting has the tags of one field of [Config].
type setting struct {
	field       reflect.StructField
	name        string // of the variable
	fallback    string // the default, as it would be written in the environment
	unset       string // what no value means, as a text
	group       string // the heading of the section that starts with this setting, if any
	secret      bool
	emptyCounts bool
	oneOf       []string
	min, max    string // as written in the tags; empty if there is no limit
}

// settings returns the settings in the order of the fields.
func settings() []setting {
	t := reflect.TypeFor[Config]()
	all := make([]setting, 0, t.NumField())
	for f := range t.Fields() {
		name, fallback, _ := strings.Cut(f.Tag.Get("env"), ", default=")
		s := setting{
			field: f, name: name, fallback: fallback,
			unset: f.Tag.Get("unset"), group: f.Tag.Get("group"),
			secret:      f.Type == reflect.TypeFor[secret.Text](),
			emptyCounts: f.Tag.Get("empty") != "",
			min:         f.Tag.Get("min"), max: f.Tag.Get("max"),
		}
		if values := f.Tag.Get("oneof"); values != "" {
			s.oneOf = strings.Split(values, "|")
		}
		all = append(all, s)
	}
	return all
}

// allows reports whether v is within the limits of the tags.
func (s setting) allows(v reflect.Value) bool {
	switch {
	case len(s.oneOf) > 0:
		return slices.Contains(s.oneOf, v.String())
	case s.min == "":
		return true
	case v.CanUint():
		return s.limit(s.min) <= int64(v.Uint()) && int64(v.Uint()) <= s.limit(s.max) //nolint:gosec // no setting is wider than 32 bits
	default:
		return s.limit(s.min) <= v.Int() && v.Int() <= s.limit(s.max)
	}
}

// limit reads a min or max tag. A tag that cannot be parsed is a mistake in this
// package, which every call of [Load] would find.
func (s setting) limit(tag string) int64 {
	if s.field.Type == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(tag)
		if err != nil {
			panic("config: limit of " + s.name + " is not a duration")
		}
		return int64(d)
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic("config: limit of " + s.name + " is not a number")
	}
	return n
}

// wants describes the valid values, as the continuation of "set it to".
func (s setting) wants() string {
	switch {
	case len(s.oneOf) > 0:
		last := len(s.oneOf) - 1
		return strings.Join(s.oneOf[:last], ", ") + " or " + s.oneOf[last]
	case s.field.Type == reflect.TypeFor[time.Duration]():
		return fmt.Sprintf("a duration from %s to %s", s.min, s.max)
	case s.min != "":
		return fmt.Sprintf("a whole number from %s to %s", s.min, s.max)
	case s.field.Type.Kind() == reflect.Bool:
		return "true or false"
	case s.field.Type == reflect.TypeFor[[]string]():
		return "words such as CAC_CERTIFICATE,OPERATING_LICENCE, separated by commas"
	case s.field.Type == reflect.TypeFor[Retention]():
		return "types and durations such as CAC_CERTIFICATE=3650d,OTHER=8760h, separated by commas, each a day or more"
	case s.field.Type.Kind() == reflect.Slice:
		return "networks such as 10.0.0.0/8,192.0.2.7/32, separated by commas"
	case s.secret:
		return "a secret text"
	default:
		return "a text"
	}
}
