package config

import (
	"fmt"
	"reflect"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// Shared returns the values of the settings that should be the same on all nodes, by name, as
// texts. They contain secrets: keep them out of logs.
func (c *Config) Shared() map[string]string {
	all := map[string]string{}
	values := reflect.ValueOf(c).Elem()
	for _, s := range settings() {
		if s.field.Tag.Get("node") == "own" {
			continue
		}
		v := values.FieldByIndex(s.field.Index).Interface()
		if text, isSecret := v.(secret.Text); isSecret {
			v = text.Reveal()
		}
		all[s.name] = fmt.Sprint(v)
	}
	return all
}
