package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// The exit codes. Scripts depend on them; they are never renumbered.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitSettings = 3
	exitDatabase = 4
	exitRefused  = 5
	exitTrouble  = 6
)

// exitCodes says what each of them means, for the help and the reference.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "It worked."},
	{exitFailed, "It failed, for a reason that has no code of its own; standard error says why."},
	{exitUsage, "The command line makes no sense: an unknown command or flag, or an argument that is missing or malformed."},
	{exitSettings, "Settings are wrong; standard error names all of them."},
	{exitDatabase, "The database is away or does not serve just now. Trying again later makes sense."},
	{exitRefused, "It was refused: by the rules of the register, or by the service that was asked. Standard error says what to correct."},
	{exitTrouble, "The check was done and found trouble (doctor, migrate status, lines check, journal check, journal get, documents check), or an import is held or has refused rows."},
}

func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What the exit code of every command says:\n\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %d  %s\n", e.code, e.meaning)
	}
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: strings.TrimRight(b.String(), "\n")}
}

// usageError reports a command line that makes no sense.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// remoteError reports a call of the API that got no answer.
type remoteError struct{ err error }

func (e *remoteError) Error() string { return e.err.Error() }
func (e *remoteError) Unwrap() error { return e.err }

// errTrouble ends a check that was done and found something.
var errTrouble = errors.New("trouble was found; see above what to do")

func exitCode(ctx context.Context, err error) int {
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitSettings
	}
	if errors.Is(err, errTrouble) {
		return exitTrouble
	}
	if errors.Is(err, errRefusedFile) {
		return exitRefused
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code != "" {
		return exitRefused
	}
	if _, ok := errors.AsType[*remoteError](err); ok || interrupted(ctx, err) {
		return exitFailed
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Code == fault.Unavailable && pg.Away(f.Err) {
			return exitDatabase
		}
		return exitRefused
	}
	if pg.Away(err) {
		return exitDatabase
	}
	return exitFailed
}

// complain says on standard error what went wrong.
func (a *app) complain(ctx context.Context, cmd *cobra.Command, err error) {
	say := func(text string) { fmt.Fprintln(a.env.Stderr, "lineproof: "+text) }
	if _, ok := errors.AsType[*usageError](err); ok {
		say(strings.TrimSpace(err.Error()))
		fmt.Fprintf(a.env.Stderr, "For help run: %s --help\n", cmd.CommandPath())
		return
	}
	if e, ok := errors.AsType[*config.Error](err); ok {
		for _, complaint := range e.Complaints {
			say(complaint)
		}
		return
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code != "" {
		say(e.Message)
		for _, v := range e.Violations {
			fmt.Fprintf(a.env.Stderr, "  %s: %s\n", v.Field, v.Message)
		}
		fmt.Fprintf(a.env.Stderr, "  (%s, request %s)\n", e.Code, e.RequestID)
		return
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		say(f.Message)
		for _, v := range f.Violations {
			fmt.Fprintf(a.env.Stderr, "  %s: %s\n", v.Field, v.Message)
		}
		if f.Err != nil { // whoever runs the command is the one who would read the log
			fmt.Fprintf(a.env.Stderr, "  (%v)\n", f.Err)
		}
		return
	}
	if interrupted(ctx, err) {
		say("interrupted")
		return
	}
	say(err.Error())
}

// interrupted reports whether err is only that somebody stopped the command.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
