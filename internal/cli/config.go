package cli

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the current settings",
		Long: `Prints every setting with its current value and where it comes from. Secrets are hidden.
If settings are invalid, it lists all of them and exits with 3.`,
		Example: `  lineproof config
  lineproof config --json`,
		Args: cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		cfg, err := a.Settings(cmd.Context())
		if err != nil {
			return err
		}
		list := a.currentSettings(cfg)
		rows := make([][]string, 0, len(list))
		for _, s := range list {
			rows = append(rows, []string{s.Name, fmt.Sprint(s.Value), s.Source})
		}
		return a.Print(*asJSON, list, rows...)
	})
	return cmd
}

// settingJSON is one setting as printed with --json.
type settingJSON struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Source string `json:"source"` // environment, file or default
}

func (a *app) currentSettings(cfg config.Config) []settingJSON {
	var list []settingJSON
	values := reflect.ValueOf(cfg)
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		s := settingJSON{Name: name, Value: displayed(values.FieldByIndex(field.Index).Interface()), Source: "default"}
		if a.isSet(name) {
			s.Source = "environment"
		}
		if a.isSet(name + "_FILE") {
			s.Source = "file"
		}
		list = append(list, s)
	}
	return list
}

// isSet reports whether the environment has the variable.
func (a *app) isSet(name string) bool {
	return slices.ContainsFunc(a.Env.Environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

// displayed returns a value in the form in which the setting is written, with
// secrets hidden.
func displayed(v any) any {
	switch v := v.(type) {
	case secret.Text:
		if v == "" {
			return ""
		}
		return v.String()
	case time.Duration:
		return v.String()
	case []netip.Prefix:
		texts := make([]string, len(v))
		for i, p := range v {
			texts[i] = p.String()
		}
		return strings.Join(texts, ",")
	default:
		return v
	}
}
