package console

import "github.com/spf13/cobra"

// ReasonFlag adds the flag --reason to a command that may take two people.
func ReasonFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("reason", "", "the reason, as free text; it is recorded, and the second person reads it; required where there is one")
}
