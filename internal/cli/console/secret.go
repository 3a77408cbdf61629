package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// maxSecretLine is far above the length of any password or credential.
const maxSecretLine = 4096

// ReadNewPassword reads a password that is about to be set: from a file, twice
// from a terminal, or else from standard input.
func (c *Console) ReadNewPassword(ctx context.Context, file string) (secret.Text, error) {
	fd, interactive := Terminal(c.Env.Stdin)
	if file != "" || !interactive {
		return c.ReadSecret(file)
	}
	first, err := c.Prompt(ctx, fd, "Password: ")
	if err != nil {
		return "", err
	}
	second, err := c.Prompt(ctx, fd, "Repeat the password: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", Usagef("the two passwords differ")
	}
	return first, nil
}

// ReadSecret returns the first line of a file; "-" and "" are standard input.
func (c *Console) ReadSecret(file string) (secret.Text, error) {
	if file == "" {
		file = "-"
	}
	in, _, err := c.OpenInput(file)
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

// Prompt reads a secret from a terminal without showing it. The read cannot be
// cancelled, so on an interruption the terminal is restored and the reading
// goroutine is abandoned.
func (c *Console) Prompt(ctx context.Context, fd int, prompt string) (secret.Text, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("prompt for a secret: %w", err)
	}
	type input struct {
		text []byte
		err  error
	}
	inputs := make(chan input, 1)
	fmt.Fprint(c.Env.Stderr, prompt)
	go func() {
		text, err := term.ReadPassword(fd)
		inputs <- input{text, err}
	}()
	select {
	case got := <-inputs:
		fmt.Fprintln(c.Env.Stderr)
		if got.err != nil {
			return "", fmt.Errorf("prompt for a secret: %w", got.err)
		}
		return secret.Text(got.text), nil
	case <-ctx.Done():
		fmt.Fprintln(c.Env.Stderr)
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}
