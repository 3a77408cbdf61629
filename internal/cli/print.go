package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// timeForm is the contract's form of a moment.
const timeForm = "2006-01-02T15:04:05.000Z"

// jsonFlag gives a command the choice of how its data is printed.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print one JSON document, for programs")
}

// printJSON prints v as one document.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// print prints v as JSON, or rows as columns.
func (a *app) print(asJSON bool, v any, rows ...[]string) error {
	if asJSON {
		return a.printJSON(v)
	}
	a.printRows(rows)
	return nil
}

// printRows prints rows in columns that are as wide as they must be.
func (a *app) printRows(rows [][]string) {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a.out keeps the error
}

// note says something on standard error that is not data.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.env.Stderr, format+"\n", args...)
}

// moment writes a time for people and programs; nothing for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeForm)
}

// timeFlag reads a time that a flag gives; "" is the zero time.
func timeFlag(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--%s is neither a day such as 2026-07-01 nor a time such as 2026-07-01T06:00:00+01:00", name)
}

// terminal returns the file descriptor behind stream if a person sits there.
func terminal(stream any) (fd int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// openInput opens a file, or standard input for "-". Size is -1 when unknown.
func (a *app) openInput(name string) (in io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(a.env.Stdin), -1, nil
	}
	f, err := os.Open(name) //nolint:gosec // whoever runs the command names the file
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, -1, nil //nolint:nilerr // a pipe can be read all the same
	}
	return f, info.Size(), nil
}
