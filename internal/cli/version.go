package cli

import (
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Long:    "Prints the version of this program, of the Go that built it, and of the newest schema that it contains.",
		Example: "  lineproof version --json",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(*cobra.Command, []string) error {
		version, schema := telemetry.Version(), pg.NewestMigration()
		return a.Print(*asJSON, map[string]any{"version": version, "go": runtime.Version(), "schema": schema},
			[]string{"lineproof", version}, []string{"go", runtime.Version()}, []string{"schema", strconv.FormatInt(schema, 10)})
	})
	return cmd
}

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for a shell",
		Long: `Prints a script that makes the Tab key complete commands, flags and their values.
SHELL is bash, zsh, fish or powershell.`,
		Example: `  source <(lineproof completion bash)
  lineproof completion zsh > "${fpath[1]}/_lineproof"
  lineproof completion fish > ~/.config/fish/completions/lineproof.fish
  lineproof completion powershell | Out-String | Invoke-Expression`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: shells,
		RunE: a.Run(func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
		}),
	}
}
