// Package cli is the lineproof command: everything that an operator does, and
// the calls of the API for those who have no program of their own.
//
// It promises that data goes to standard output and everything else to standard
// error, that the exit code says what kind of failure it was, and that a secret
// is printed once, when it is made, and is never taken as an argument, where
// other users of the machine could read it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Env is everything that the command takes from the machine it runs on.
type Env struct {
	Args    []string // without the program's name
	Environ []string // in the form of os.Environ
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
}

// app is one run of the command.
type app struct {
	env Env
	out *output
	// began is true once a command has begun its own work. Errors before that
	// are about the command line.
	began bool
}

// Main runs the command line in env and returns the exit code.
func Main(ctx context.Context, env Env) int {
	a := &app{env: env, out: &output{w: env.Stdout}}
	cmd, err := a.execute(ctx)
	if err == nil && a.out.err != nil {
		err = fmt.Errorf("write the output: %w", a.out.err)
	}
	if err == nil {
		return exitOK
	}
	a.complain(ctx, cmd, err)
	return exitCode(ctx, err)
}

func (a *app) execute(ctx context.Context) (*cobra.Command, error) {
	root := a.root()
	root.SetArgs(slices.Concat([]string{}, a.env.Args)) // never nil, for then cobra would take the process's own
	root.SetIn(a.env.Stdin)
	root.SetOut(a.out)
	root.SetErr(a.env.Stderr)
	if err := incomplete(root, a.env.Args); err != nil {
		return root, err
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.began {
		err = &usageError{err}
	}
	return cmd, err
}

// incomplete complains about a group of commands of which none was named, which
// cobra would answer with help and success.
func incomplete(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root || cmd.Runnable() || !cmd.HasSubCommands() ||
		slices.Contains(rest, "--help") || slices.Contains(rest, "-h") {
		return nil //nolint:nilerr // cobra finds the same and says so
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	if len(rest) == 0 {
		return usagef("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
	}
	return usagef("%s has no command of that name; it has: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// root returns the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lineproof",
		Short: "Run and look after a Lineproof service",
		Long: `Lineproof tells banks, before they trust a phone number, what state its line is in.
One binary serves the API, looks after its database and calls the API of a running service.

Settings are read from the environment (LINEPROOF_...). See which are in force with: lineproof config`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddGroup(
		&cobra.Group{ID: "service", Title: "The service:"},
		&cobra.Group{ID: "data", Title: "What the service knows:"},
		&cobra.Group{ID: "remote", Title: "A running service, over its API:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("service", a.serveCommand(), a.migrateCommand(), a.doctorCommand(), a.configCommand(), a.demoCommand())
	add("data", a.clientCommand(), a.entityCommand(), a.keyCommand(), a.staffCommand(), a.accountCommand(), a.inviteCommand(), a.documentsCommand(), a.linesCommand(), a.planCommand(), a.policyCommand(), a.journalCommand(), a.guardCommand(), a.limitsCommand(), a.approvalCommand(), a.auditCommand())
	add("remote", a.apiCommand())
	root.AddCommand(a.versionCommand(), a.completionCommand(), exitCodesTopic())
	return root
}

// run makes fn the work of a command.
func (a *app) run(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.began = true
		return fn(cmd, args)
	}
}

// onDatabase makes fn the work of a command that needs the database.
func (a *app) onDatabase(fn func(cmd *cobra.Command, args []string, p *parts) error) func(*cobra.Command, []string) error {
	return a.run(func(cmd *cobra.Command, args []string) error {
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		return fn(cmd, args, p)
	})
}

// required marks flags that must be given.
func required(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic("cli: " + err.Error()) // the flag does not exist: a mistake in this package
		}
	}
}

// completes makes the shell offer words as values of a flag.
func completes(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("cli: " + err.Error()) // the flag does not exist: a mistake in this package
	}
}

// output remembers that something could not be written: a secret that is shown
// once must not get lost without a word.
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
