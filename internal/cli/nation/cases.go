package nation

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// The numbers of the cases, which the summary names.
const (
	caseEndedBefore = "ported although it had ended"
	caseBackdated   = "ended, reported too late"
	caseEndVoided   = "an end that its operator withdrew"
	caseReleased    = "released by one operator, claimed by none"
	caseFlagged     = "flagged by the central bank"
	caseBarred      = "barred by one person"
	caseBlacklisted = "blacklisted by two people"
	caseToBlacklist = "to be blacklisted, waits for a second person"
	caseCorrected   = "answered, and corrected later"
)

// makeCases makes what staff have to decide and what happens now and then, each once.
func (n *nation) makeCases(ctx context.Context) error {
	for _, c := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"events of today", n.supplyToday},
		{"conflicts", n.makeConflicts},
		{"flags", n.flagLines},
		{"orders", n.giveOrders},
		{"corrections", n.correctAnswers},
		{"held file", n.sendHalfAFile},
		{"scan", n.scanNumbers},
		{"approvals", n.requestApprovals},
		{"who asked", n.requestSearch},
	} {
		if err := n.once(c.name, func() error { return c.do(ctx) }); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// wrongRows are rows of a file that are rejected.
const wrongRows = `wrong-1,+2348050000,SIM_CHANGED,2026-01-01,,
wrong-2,+2348051234567,SIM_SWAPPED,2026-01-01,,
wrong-3,+2348051234567,ENDED,yesterday,CHURNED,
`

// supplyToday lets every operator send the events since its snapshot as a file. One has
// rows that are rejected.
func (n *nation) supplyToday(ctx context.Context) error {
	for i, o := range n.lines {
		var file bytes.Buffer
		through := time.Now().UTC().Truncate(time.Second)
		if err := o.network.Changes(&file, min(400, o.network.Lines/10), n.st.AsOf, through, true); err != nil {
			return err
		}
		if i == 2 {
			file.WriteString(wrongRows)
		}
		path := n.path("supply", strings.ToLower(o.code)+"-events.csv")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			return fmt.Errorf("nation: %w", err)
		}
		im, err := n.sendFile(ctx, o, client.LinesFile{Kind: client.ImportEvents, AsOf: through, ContentType: "text/csv"}, path)
		if err != nil {
			return err
		}
		if _, err := n.waitImport(ctx, o, im.ID, func(int64) {}); err != nil {
			return err
		}
	}
	return nil
}

// fresh returns a line of the operator that nothing has happened to, for a case.
func (n *nation) fresh(o *operator) string {
	return o.number(n.firstEvent(o) + n.st.next(o.code))
}

// firstEvent is the first of an operator's lines whose holder is nobody's customer.
func (n *nation) firstEvent(o *operator) int64 { return n.customerBase() * 2 / 100 * o.share }

// tell reports events in the name of a client.
func (n *nation) tell(ctx context.Context, name string, events ...client.LineEvent) error {
	token, err := n.token(ctx, name)
	if err != nil {
		return err
	}
	for i := range events {
		if events[i].ID == "" {
			events[i].ID = newID()
		}
	}
	receipt, err := n.api.ReportEvents(ctx, token, events, time.Time{})
	if err == nil && receipt.Refused > 0 {
		err = fmt.Errorf("an event of %s was refused: %s", name, receipt.Results[0].Message)
	}
	return err
}

// makeConflicts makes reports that contradict each other, or that staff have to confirm.
func (n *nation) makeConflicts(ctx context.Context) error {
	mtn, airtel, glo := n.lines[0], n.lines[1], n.lines[2]
	now, day := time.Now(), 24*time.Hour
	at := func(what string, o *operator) string {
		n.st.Numbers[what] = n.fresh(o)
		return n.st.Numbers[what]
	}
	for range 3 {
		number := at(caseEndedBefore, mtn)
		if err := n.tell(ctx, mtn.name, client.LineEvent{PhoneNumber: number, Type: client.EventEnded, EffectiveAt: now.Add(-10 * day), Reason: "CHURNED"}); err != nil {
			return err
		}
		if err := n.tell(ctx, clearingHouse, client.LineEvent{PhoneNumber: number, Type: client.EventPorted, EffectiveAt: now, Network: airtel.code}); err != nil {
			return err
		}
	}
	for range 2 {
		if err := n.tell(ctx, airtel.name, client.LineEvent{PhoneNumber: at(caseBackdated, airtel), Type: client.EventEnded, EffectiveAt: now.Add(-40 * day), Reason: "SURRENDERED"}); err != nil {
			return err
		}
	}
	number, end := at(caseEndVoided, glo), newID()
	if err := n.tell(ctx, glo.name, client.LineEvent{ID: end, PhoneNumber: number, Type: client.EventEnded, EffectiveAt: now, Reason: "CHURNED"}); err != nil {
		return err
	}
	if err := n.tell(ctx, glo.name, client.LineEvent{PhoneNumber: number, Type: client.EventVoided, EffectiveAt: time.Now(), Voids: end, Note: "the wrong line"}); err != nil {
		return err
	}
	return n.tell(ctx, mtn.name, client.LineEvent{PhoneNumber: at(caseReleased, mtn), Type: client.EventPortReleased, EffectiveAt: now, Network: glo.code})
}

// flagLines lets the central bank flag lines that are suspected of fraud.
func (n *nation) flagLines(ctx context.Context) error {
	var events []client.LineEvent
	for i, level := range []string{"MEDIUM", "MEDIUM", "HIGH", "HIGH", "VERY_HIGH"} {
		n.st.Numbers[caseFlagged] = n.fresh(n.lines[i%3])
		events = append(events, client.LineEvent{PhoneNumber: n.st.Numbers[caseFlagged], Type: client.EventFlagged, EffectiveAt: time.Now(), Level: level})
	}
	return n.tell(ctx, centralBank, events...)
}

// giveOrders lets staff bar and blacklist lines: some orders wait for a second person.
func (n *nation) giveOrders(ctx context.Context) error {
	first, second, err := n.founders(ctx)
	if err != nil {
		return err
	}
	for _, o := range []struct {
		what, action, reason, note string
		confirm                    bool
	}{
		{caseBarred, client.OrderBar, "FRAUD", "Police report 114/26", false},
		{caseBlacklisted, client.OrderBlacklist, "", "Used in the fraud of March, file 88/26", true},
		{caseToBlacklist, client.OrderBlacklist, "", "Named by three banks, file 91/26", false},
	} {
		n.st.Numbers[o.what] = n.fresh(n.lines[1])
		created, err := n.api.CreateOrder(ctx, first, client.Order{PhoneNumber: n.st.Numbers[o.what], Action: o.action, Reason: o.reason, Note: o.note})
		if err != nil {
			return err
		}
		if o.confirm {
			if _, err := n.api.ConfirmOrder(ctx, second, created.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// correctAnswers lets the bank ask about customers, and their operators report later that
// the SIM had been changed before.
func (n *nation) correctAnswers(ctx context.Context) error {
	for i := range int64(6) {
		if err := n.correctAnswer(ctx, i*117); err != nil {
			return err
		}
	}
	return nil
}

func (n *nation) correctAnswer(ctx context.Context, customer int64) error {
	o, at := n.operatorOf(customer)
	number := o.number(at)
	n.st.setNumber(caseCorrected, number)
	if _, err := n.api.Verify(ctx, n.key(keyPayments), number); err != nil {
		return err
	}
	return n.tell(ctx, o.name, client.LineEvent{PhoneNumber: number, Type: client.EventSIMChanged, EffectiveAt: time.Now().Add(-2 * time.Hour)})
}

// sendHalfAFile lets an operator send a snapshot that lacks half of its lines, which is held.
// Another one sends a file only to have it checked.
func (n *nation) sendHalfAFile(ctx context.Context) error {
	for _, f := range []struct {
		o      *operator
		rows   int64
		dryRun bool
	}{{n.lines[3], n.lines[3].network.Lines / 2, false}, {n.lines[1], 500, true}} {
		half := f.o.network
		if f.dryRun {
			half.Lines = f.rows
		}
		half.AsOf = time.Now().UTC().Truncate(time.Second).Add(-time.Second)
		var file bytes.Buffer
		if err := half.Snapshot(&file); err != nil {
			return err
		}
		lines := strings.SplitAfter(file.String(), "\n")
		path := n.path("supply", strings.ToLower(f.o.code)+"-part.csv")
		if err := os.WriteFile(path, []byte(strings.Join(lines[:f.rows], "")), 0o600); err != nil {
			return fmt.Errorf("nation: %w", err)
		}
		im, err := n.sendFile(ctx, f.o, client.LinesFile{Kind: client.ImportSnapshot, AsOf: half.AsOf, DryRun: f.dryRun, ContentType: "text/csv"}, path)
		if err != nil {
			return err
		}
		if im, err = n.waitImport(ctx, f.o, im.ID, func(int64) {}); err != nil {
			return err
		}
		if !f.dryRun && im.State != client.ImportHeld {
			return fmt.Errorf("the file with half of the lines is %s and not held", im.State)
		}
	}
	return nil
}

// scanNumbers lets a lender ask about one number after the other, until it is slowed.
func (n *nation) scanNumbers(ctx context.Context) error {
	const size = 250
	impatient := *n.api
	impatient.Retries = -1 // it would wait for as long as the guard says
	for call := 0; call < 8 && ctx.Err() == nil; {
		numbers := make([]string, size)
		for i := range numbers {
			numbers[i] = fmt.Sprintf("+234806%07d", 3_300_000+call*size+i)
		}
		_, err := impatient.VerifyBatch(ctx, n.key(keyQuickloan), numbers, client.VerifyOptions{})
		switch code := client.CodeOf(err); {
		case code == client.CodeScanSuspected || (code == client.CodeTooManyRequests && call >= 5):
			return nil // after a thousand numbers that nobody has, it is slowed to a tenth
		case code == client.CodeTooManyRequests:
			pause.For(ctx, 300*time.Millisecond)
		case err != nil:
			return err
		default:
			call++
		}
	}
	return ctx.Err()
}

// day formats a day as commands take it.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// newID returns the id of an event.
func newID() string { return rand.Text()[:16] }
