package cli

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/secret"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings in force",
		Long: `Prints every setting with the value in force and where it comes from. Secrets are hidden.
When settings are wrong, it names all of them and exits with 3.`,
		Example: `  lineproof config
  lineproof config --json`,
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		cfg, err := a.settings(cmd.Context())
		if err != nil {
			return err
		}
		list := a.inForce(cfg)
		rows := make([][]string, 0, len(list))
		for _, s := range list {
			rows = append(rows, []string{s.Name, fmt.Sprint(s.Value), s.Source})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

// settingInForce is one setting as it is printed.
type settingInForce struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Source string `json:"source"` // environment, file or default
}

func (a *app) inForce(cfg config.Config) []settingInForce {
	var list []settingInForce
	values := reflect.ValueOf(cfg)
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		s := settingInForce{Name: name, Value: shown(values.FieldByIndex(field.Index).Interface()), Source: "default"}
		if a.set(name) {
			s.Source = "environment"
		}
		if a.set(name + "_FILE") {
			s.Source = "file"
		}
		list = append(list, s)
	}
	return list
}

// set reports whether the environment has the variable.
func (a *app) set(name string) bool {
	return slices.ContainsFunc(a.env.Environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

// shown returns a setting in the form in which it would be written, with secrets
// hidden.
func shown(v any) any {
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
