package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The exit codes. Scripts depend on them; they are never renumbered.
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitUsage    = 2
	ExitSettings = 3
	ExitDatabase = 4
	ExitRefused  = 5
	ExitProblems = 6
	ExitWaits    = 7
)

// ExitCodes has the meaning of each exit code, for the help and the reference.
var ExitCodes = []struct {
	Code    int
	Meaning string
}{
	{ExitOK, "Success."},
	{ExitFailed, "Failed for a reason that has no code of its own; see standard error."},
	{ExitUsage, "Wrong command line: an unknown command or flag, or an argument that is missing or malformed."},
	{ExitSettings, "Invalid settings; standard error lists all of them."},
	{ExitDatabase, "The database is unavailable. Try again later."},
	{ExitRefused, "Refused by the service's rules or by the API. Standard error says what to correct."},
	{ExitProblems, "The check ran and found problems (doctor, migrate status, lines check, journal check, journal get, documents check), or an import is held or has rejected rows."},
	{ExitWaits, "Requested: it takes two people and waits for a second person. Standard error says how to confirm it."},
}

// ExitCodesTopic is the help topic on exit codes.
func ExitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("The exit codes of all commands:\n\n")
	for _, e := range ExitCodes {
		fmt.Fprintf(&b, "  %d  %s\n", e.Code, e.Meaning)
	}
	return &cobra.Command{Use: "exit-codes", Short: "Exit codes and their meaning", Long: strings.TrimRight(b.String(), "\n")}
}

// UsageError reports a mistake in the command line.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Usagef returns a [UsageError] with a message.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// RemoteError reports a failed API call. It keeps a service that cannot be
// reached from being reported as a database that is unavailable.
type RemoteError struct{ Err error }

func (e *RemoteError) Error() string { return e.Err.Error() }
func (e *RemoteError) Unwrap() error { return e.Err }

// Errors of commands that ran to their end and have printed the details.
var (
	ErrProblems     = errors.New("problems found, see above")
	ErrFileRejected = errors.New("the file was rejected, see above for the reason")
)

// ExitCode returns the exit code for the error of a command.
func ExitCode(ctx context.Context, err error) int {
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return ExitSettings
	}
	if errors.Is(err, ErrProblems) {
		return ExitProblems
	}
	if _, ok := errors.AsType[*approval.WaitsError](err); ok {
		return ExitWaits
	}
	if errors.Is(err, ErrFileRejected) {
		return ExitRefused
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code != "" {
		return ExitRefused
	}
	if _, ok := errors.AsType[*RemoteError](err); ok || interrupted(ctx, err) {
		return ExitFailed
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Code == fault.Unavailable && pg.IsUnavailable(f.Err) {
			return ExitDatabase
		}
		return ExitRefused
	}
	if pg.IsUnavailable(err) {
		return ExitDatabase
	}
	return ExitFailed
}

// Report writes the error of a command to standard error.
func (c *Console) Report(ctx context.Context, cmd *cobra.Command, err error) {
	report := func(text string) { fmt.Fprintln(c.Env.Stderr, cmd.Root().Name()+": "+text) }
	if _, ok := errors.AsType[*UsageError](err); ok {
		report(strings.TrimSpace(err.Error()))
		fmt.Fprintf(c.Env.Stderr, "For help run: %s --help\n", cmd.CommandPath())
		return
	}
	if e, ok := errors.AsType[*config.Error](err); ok {
		for _, complaint := range e.Problems {
			report(complaint)
		}
		return
	}
	if w, ok := errors.AsType[*approval.WaitsError](err); ok {
		report("this takes two people: it waits for a second person and has no effect until then")
		fmt.Fprintf(c.Env.Stderr, "Another administrator confirms it within a week in the portal, under Approvals, or with: lineproof approval confirm %s\n", w.ID)
		return
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code != "" {
		report(e.Message)
		for _, v := range e.Violations {
			fmt.Fprintf(c.Env.Stderr, "  %s: %s\n", v.Field, v.Message)
		}
		fmt.Fprintf(c.Env.Stderr, "  (%s, request %s)\n", e.Code, e.RequestID)
		return
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		report(f.Message)
		for _, v := range f.Violations {
			fmt.Fprintf(c.Env.Stderr, "  %s: %s\n", v.Field, v.Message)
		}
		if f.Err != nil { // the operator may see it: the same text would be in the service's log
			fmt.Fprintf(c.Env.Stderr, "  (%v)\n", f.Err)
		}
		return
	}
	if interrupted(ctx, err) {
		report("interrupted")
		return
	}
	report(err.Error())
}

// interrupted reports whether err only says that the user stopped the command.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
