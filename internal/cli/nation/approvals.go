package nation

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lineproof/lineproof/client"
)

// asPerson runs a command in the session of a member of staff.
func (n *nation) asPerson(ctx context.Context, session client.Secret, stdin string, args ...string) (string, error) {
	file := n.path("session")
	if err := os.WriteFile(file, []byte(session), 0o600); err != nil {
		return "", fmt.Errorf("nation: %w", err)
	}
	defer func() { _ = os.Remove(file) }() // the session ends by itself
	return n.run(ctx, stdin, append(args, "--session-file", file)...)
}

// requestApprovals requests changes that take two people, and leaves them to the reader.
func (n *nation) requestApprovals(ctx context.Context) error {
	first, err := n.login(ctx, firstFounder)
	if err != nil {
		return err
	}
	bank, lender := n.st.Entities[harbour], n.st.Entities[dormant]
	if _, err := n.asPerson(ctx, first, "", "entity", "suspend", lender, "--reason", "No answer to the letters of July and August"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"limits", "set", "--entity", bank, "--day-numbers", "500000", "--reason", "Its licence of June"},
		{"client", "create", "--name", "Smile (demo)", "--network", "SMILE", "--scope", client.ScopeSupply, "--reason", "The fifth operator begins in December"},
		{"lines", "announce", "GLO", "--lines", "5000", "--from", day(time.Now()), "--until", day(time.Now().AddDate(0, 0, 7)), "--reason", "Glo switches off its oldest numbers, letter of 2 November"},
	} {
		if _, err := n.run(ctx, "", args...); err != nil {
			return err
		}
	}
	number := n.customer(3)
	if _, err := n.run(ctx, number, "journal", "hold", "place", "--number-file", "-", "--reason", "order of the Federal High Court, FHC/L/CS/114/2026"); err != nil {
		return err
	}
	_, err = n.run(ctx, n.customer(5), "lines", "seal", "request", "--number-file", "-", "--until", day(time.Now().AddDate(0, 1, 0)), "--reason", "order of the Federal High Court, FHC/L/CS/115/2026")
	return err
}

// requestSearch requests two searches for who has asked about a number. One is confirmed
// by the second founder; the other waits.
func (n *nation) requestSearch(ctx context.Context) error {
	first, second, err := n.founders(ctx)
	if err != nil {
		return err
	}
	for i, reason := range []string{"Request of the holder, case 2026-17", "Request of the holder, case 2026-18"} {
		id, err := n.asPerson(ctx, first, n.customer(int64(i)), "journal", "asked", "request", "--number-file", "-", "--from", day(time.Now().AddDate(0, 0, -1)), "--to", day(time.Now()), "--reason", reason)
		if err != nil {
			return err
		}
		if i == 0 {
			if _, err := n.asPerson(ctx, second, "", "approval", "confirm", strings.TrimSpace(id)); err != nil {
				return err
			}
		}
	}
	return nil
}
