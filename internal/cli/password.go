package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/lineproof/lineproof/internal/secret"
)

// maxSecretLine is far above any password or credential.
const maxSecretLine = 4096

// newPassword reads a password that is about to be set: from a file, twice from
// a terminal, or else from standard input.
func (a *app) newPassword(ctx context.Context, file string) (secret.Text, error) {
	fd, person := terminal(a.env.Stdin)
	if file != "" || !person {
		return a.secretFrom(file)
	}
	first, err := a.prompt(ctx, fd, "Password: ")
	if err != nil {
		return "", err
	}
	second, err := a.prompt(ctx, fd, "The same again: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", usagef("the two passwords differ")
	}
	return first, nil
}

// secretFrom returns the first line of a file, or of standard input for "-" and
// for no name at all.
func (a *app) secretFrom(file string) (secret.Text, error) {
	if file == "" {
		file = "-"
	}
	in, _, err := a.openInput(file)
	if err != nil {
		return "", fmt.Errorf("read a secret: %w", err)
	}
	defer func() { _ = in.Close() }() // nothing was written
	line, err := bufio.NewReader(io.LimitReader(in, maxSecretLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read a secret: %w", err)
	}
	return secret.Text(strings.TrimRight(line, "\r\n")), nil
}

// prompt asks a person for a secret without showing it. Reading cannot be
// stopped, so on an interruption the terminal is put right and the reader is left
// behind.
func (a *app) prompt(ctx context.Context, fd int, question string) (secret.Text, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("ask for a secret: %w", err)
	}
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	fmt.Fprint(a.env.Stderr, question)
	go func() {
		text, err := term.ReadPassword(fd)
		answers <- answer{text, err}
	}()
	select {
	case got := <-answers:
		fmt.Fprintln(a.env.Stderr)
		if got.err != nil {
			return "", fmt.Errorf("ask for a secret: %w", got.err)
		}
		return secret.Text(got.text), nil
	case <-ctx.Done():
		fmt.Fprintln(a.env.Stderr)
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}
