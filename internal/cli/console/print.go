package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// timeFormat is the API's format of a time.
const timeFormat = "2006-01-02T15:04:05.000Z"

// JSONFlag adds the flag --json to a command.
func JSONFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print one JSON document, for programs")
}

// PrintJSON prints v as one JSON document.
func (c *Console) PrintJSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return fault.Wrap(e.Encode(v), "print")
}

// Print prints v as JSON, or rows as a table.
func (c *Console) Print(asJSON bool, v any, rows ...[]string) error {
	if asJSON {
		return c.PrintJSON(v)
	}
	c.PrintRows(rows)
	return nil
}

// PrintRows prints rows as a table with aligned columns.
func (c *Console) PrintRows(rows [][]string) {
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // c.Out keeps the error
}

// Note prints a message that is not data to standard error.
func (c *Console) Note(format string, args ...any) {
	fmt.Fprintf(c.Env.Stderr, format+"\n", args...)
}

// Count formats a number with its noun, in the plural unless the number is 1.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// FormatID formats an id; "" for the zero id.
func FormatID(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

// FormatTime formats a time for people and programs; "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeFormat)
}

// ParseTime reads the value of the time flag with that name; "" is the zero time.
func ParseTime(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, format := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(format, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Usagef("--%s must be a day such as 2026-07-01 or a time such as 2026-07-01T06:00:00+01:00", flag)
}

// Terminal returns the file descriptor of stream if it is a terminal.
func Terminal(stream any) (fd int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// IsRegularFile reports whether a stream is a file on a disk: no terminal, pipe or device.
func IsRegularFile(stream any) bool {
	f, isFile := stream.(*os.File)
	if !isFile {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// OpenInput opens a file, or standard input for "-". Size is -1 when unknown.
func (c *Console) OpenInput(name string) (in io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(c.Env.Stdin), -1, nil
	}
	f, err := os.Open(name) //nolint:gosec // the user of the command names the file
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, -1, nil //nolint:nilerr // a pipe has no size and can still be read
	}
	return f, info.Size(), nil
}
