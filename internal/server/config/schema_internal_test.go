package config

import (
	"reflect"
	"time"
)

// Schema returns a JSON schema for the value of each setting, by its name, and the names
// of the secrets, which have none because they are read from files. The values of the Helm
// chart are checked with them.
func Schema() (plain map[string]any, secrets []string) {
	comments := fieldComments()
	plain = map[string]any{}
	for _, s := range settings() {
		if s.secret {
			secrets = append(secrets, s.name)
			continue
		}
		schema := s.schema()
		schema["description"] = comments[s.field.Name]
		plain[s.name] = schema
	}
	return plain, secrets
}

func (s setting) schema() map[string]any {
	switch {
	case len(s.oneOf) > 0:
		return map[string]any{"enum": s.oneOf}
	case s.field.Type == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`}
	case s.min != "":
		return map[string]any{"type": "integer", "minimum": s.limit(s.min), "maximum": s.limit(s.max)}
	case s.field.Type.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	default:
		return map[string]any{"type": "string"}
	}
}
