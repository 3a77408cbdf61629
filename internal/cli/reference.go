package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const preamble = `# Command line

Generated from ` + "`internal/cli`" + ` by ` + "`go test ./internal/cli -run Reference -update`" + `; do not edit.

Data goes to standard output and everything else to standard error. Commands that print data take ` + "`--json`" + ` and then print one JSON
document. ` + "`lineproof COMMAND --help`" + ` shows what stands here, and ` + "`lineproof completion SHELL`" + ` makes the Tab key know it.

Commands that touch the database read the service's [settings](configuration.md) from the environment. The ` + "`api`" + ` commands read
variables that begin with ` + "`LINEPROOF_API_`" + ` instead.
`

// Reference returns the text of docs/reference/cli.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(preamble)
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", e.code, e.meaning)
	}
	b.WriteString("\n## Variables of the api commands\n\n| name | meaning |\n| --- | --- |\n")
	for _, v := range apiVariables {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.name, v.meaning)
	}
	describe(&b, (&app{}).root())
	return b.String()
}

// describe writes a section for every command that can be run, in the order of
// the tree.
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
