package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/remote"
)

const preamble = `# Command line

Generated from ` + "`internal/cli`" + ` by ` + "`go test ./internal/cli -run Reference -update`" + `; do not edit.

Data goes to standard output and everything else to standard error. Commands that print data take ` + "`--json`" + ` and then print one JSON
document. ` + "`lineproof COMMAND --help`" + ` prints the same text as this page, and ` + "`lineproof completion SHELL`" + ` sets up Tab completion.

Commands that use the database read the service's [settings](configuration.md) from the environment. The ` + "`api`" + ` commands read
variables with the prefix ` + "`LINEPROOF_API_`" + ` instead.
`

// Reference returns the text of docs/reference/cli.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(preamble)
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n")
	for _, e := range console.ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, e.Meaning)
	}
	b.WriteString("\n## Variables of the api commands\n\n| name | meaning |\n| --- | --- |\n")
	for _, v := range remote.Variables {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.Name, v.Meaning)
	}
	describe(&b, Root())
	return b.String()
}

// describe writes a section for every runnable command, in the order of the tree.
func describe(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Runnable() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(cmd.Long), cmd.UseLine())
		if flags := cmd.LocalFlags().FlagUsages() + cmd.InheritedFlags().FlagUsages(); flags != "" {
			fmt.Fprintf(b, "\nFlags:\n\n```text\n%s```\n", flags)
		}
		fmt.Fprintf(b, "\nExamples:\n\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	for _, sub := range cmd.Commands() {
		describe(b, sub)
	}
}
