package console

import (
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ReasonFlag adds the flag --reason to a command that may take two people.
func ReasonFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("reason", "", "the reason, as free text; it is recorded, and the second person reads it; required where there is one")
}

// IDFlag adds a flag whose value is an id, into to. Without the flag it is the zero id; a variable
// of the shell that is not set is an error.
func IDFlag(cmd *cobra.Command, to *uuid.UUID, name, usage string) {
	cmd.Flags().Var(&parsed{parse: func(text string) (err error) {
		*to, err = ParseID("--"+name, text)
		return err
	}}, name, usage)
}

// RequiredIDFlag is [IDFlag] for a flag that must be given.
func RequiredIDFlag(cmd *cobra.Command, to *uuid.UUID, name, usage string) {
	IDFlag(cmd, to, name, usage)
	Require(cmd, name)
}

// TimeFlag adds a flag whose value is a time or a day, into to; "" is the zero time.
func TimeFlag(cmd *cobra.Command, to *time.Time, name, usage string) {
	cmd.Flags().Var(&parsed{parse: func(text string) (err error) {
		*to, err = ParseTime(name, text)
		return err
	}}, name, usage)
}

// parsed is a text that [Console.Run] parses before the function of the command: with an error of
// ours, which names no type of Go, and no matter in which order the flags were given.
type parsed struct {
	text  string
	parse func(string) error
}

// String, Set and Type implement [pflag.Value].
func (p *parsed) String() string { return p.text }

func (p *parsed) Set(text string) error {
	p.text = text
	return nil
}

func (p *parsed) Type() string { return "string" }

// parseFlags parses the values of the flags that were given.
func parseFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if p, ok := f.Value.(*parsed); ok && err == nil {
			err = p.parse(p.text)
		}
	})
	return err
}
