// Package console is what all commands share: reading settings and secrets,
// printing data and notes, showing progress, and exit codes.
//
// Data goes to standard output and everything else to standard error. A secret
// is never taken as an argument, where other users of the machine could read it.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/server/config"
)

// APIPrefix is the prefix of the environment variables of the api commands.
// They are not settings of the service.
const APIPrefix = "LINEPROOF_API_"

// Env is everything that a command reads from the machine it runs on.
type Env struct {
	Args    []string // without the program's name
	Environ []string // in the form of os.Environ
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// LowerPriority makes the process use less of the processors, for work that can wait.
	// Without it nothing changes.
	LowerPriority func() error
}

// Console is the input and output of one command.
type Console struct {
	Env Env
	Out io.Writer // standard output; a failed write makes the command fail

	out *output
	// started is true once a command's own function runs. Errors before that are
	// errors in the command line.
	started bool
}

// New returns the console of one command.
func New(env Env) *Console {
	out := &output{w: env.Stdout}
	return &Console{Env: env, Out: out, out: out}
}

// LowerPriority lets the rest of the command take less of the processor than requests to a
// service on the same machine. If it fails, they only wait longer.
func (c *Console) LowerPriority() {
	if c.Env.LowerPriority != nil {
		_ = c.Env.LowerPriority()
	}
}

// Execute runs the command of root that the arguments name.
func (c *Console) Execute(ctx context.Context, root *cobra.Command) (*cobra.Command, error) {
	root.SetArgs(append([]string{}, c.Env.Args...)) // never nil: cobra would then use the arguments of the process
	root.SetIn(c.Env.Stdin)
	root.SetOut(c.Out)
	root.SetErr(c.Env.Stderr)
	if err := missingSubcommand(root, c.Env.Args); err != nil {
		return root, err
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !c.started {
		err = &UsageError{err}
	}
	if err == nil && c.out.err != nil {
		err = fmt.Errorf("write the output: %w", c.out.err)
	}
	return cmd, err
}

// missingSubcommand returns an error for a group of commands without one of its
// commands. Cobra would print help and succeed.
func missingSubcommand(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root || cmd.Runnable() || !cmd.HasSubCommands() ||
		slices.Contains(rest, "--help") || slices.Contains(rest, "-h") {
		return nil //nolint:nilerr // cobra finds the same error and reports it
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	if len(rest) == 0 {
		return Usagef("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
	}
	return Usagef("%s has no command of that name; it has: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// Run wraps the function of a command, so that its errors are not taken for
// errors in the command line, and parses the flags that have ids and times.
func (c *Console) Run(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.started = true
		if err := parseFlags(cmd); err != nil {
			return err
		}
		return fn(cmd, args)
	}
}

// Settings reads the settings of the service from the environment.
func (c *Console) Settings(ctx context.Context) (config.Config, error) {
	environ := slices.DeleteFunc(slices.Clone(c.Env.Environ), func(entry string) bool {
		return strings.HasPrefix(entry, APIPrefix)
	})
	return config.Load(ctx, environ)
}

// Group returns a command that only has others below it.
func Group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(subcommands...)
	return cmd
}

// Require marks flags as required.
func Require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic("cli: " + err.Error()) // the flag does not exist: a bug in the command
		}
	}
}

// Complete makes the shell offer words as values of a flag.
func Complete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("cli: " + err.Error()) // the flag does not exist: a bug in the command
	}
}

// ParseID reads an id from the command line; what names the argument or flag.
func ParseID(what, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, Usagef("%s is not a UUID", what)
	}
	return id, nil
}

// output keeps write errors: losing a secret that is shown only once must make
// the command fail.
type output struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.err = errors.Join(o.err, err)
	return n, err
}
