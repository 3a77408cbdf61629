package nation

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// asker is an application of a bank that verifies numbers of its customers.
type asker struct {
	key       client.Secret
	customers []string
	share     int // of a hundred requests
}

// maxWaiting is how many requests may be unanswered at once: a service that is slow gets
// no more.
const maxWaiting = 64

// startTraffic starts everybody who verifies, reports and reads, until ctx ends.
func (n *nation) startTraffic(ctx context.Context) {
	customers := n.customers(harbour)
	askers := []asker{
		{n.key(keyPayments), customers, 45},
		{n.key(keyOpening), customers, 10},
		{n.key(keySavanna), n.customers(savanna), 25},
		{n.key(keyPaylane), n.customers(paylane), 20},
	}
	n.goroutine.Go(func() { n.verify(ctx, askers) })
	for _, o := range n.lines {
		n.every(ctx, 2*time.Second, func(ctx context.Context, token client.Secret) error { return n.reportEvents(ctx, o, token) }, o.name)
	}
	n.every(ctx, 4*time.Second, n.reportPorts, clearingHouse)
	n.every(ctx, 45*time.Second, n.reportFlag, centralBank)
	n.every(ctx, time.Minute, func(ctx context.Context, _ client.Secret) error {
		return n.correctAnswer(ctx, n.st.next("corrections")*7%n.customerBase())
	}, clearingHouse)
	n.goroutine.Go(func() { n.readFeed(ctx) })
	n.goroutine.Go(func() { n.watchLog(ctx) })
}

// every does something at an interval with an access token of a client. What fails is
// tried again in the next turn: the nation goes on while a part of it does not.
func (n *nation) every(ctx context.Context, interval time.Duration, do func(context.Context, client.Secret) error, name string) {
	n.goroutine.Go(func() {
		var token client.Secret
		var until time.Time
		for pause.For(ctx, time.Duration(float64(interval)*rand.Float64())); ctx.Err() == nil; pause.For(ctx, interval) { //nolint:gosec // so that not all begin at once
			if time.Now().After(until) {
				got, err := n.token(ctx, name)
				if err != nil {
					n.counts.troubles.Add(1)
					continue
				}
				token, until = got, time.Now().Add(10*time.Minute)
			}
			if err := do(ctx, token); err != nil && ctx.Err() == nil {
				n.counts.troubles.Add(1)
			}
		}
	})
}

// verify asks at the rate, each time in the name of one of the banks. The first request of
// each is mistyped: nobody's list of refused requests is empty.
func (n *nation) verify(ctx context.Context, askers []asker) {
	for _, a := range askers {
		n.ask(ctx, a, 0)
	}
	tick := time.NewTicker(time.Second / time.Duration(n.o.Rate))
	defer tick.Stop()
	slots := make(chan struct{}, maxWaiting)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		select {
		case slots <- struct{}{}:
		default:
			continue
		}
		of, a := rand.IntN(100), askers[0] //nolint:gosec // no secret
		for _, a = range askers {
			if of -= a.share; of < 0 {
				break
			}
		}
		n.goroutine.Go(func() {
			defer func() { <-slots }()
			n.ask(ctx, a, rand.IntN(1000)) //nolint:gosec // no secret
		})
	}
}

// ask verifies one number: mostly that of a customer, some customers more often than
// others, and now and then one that somebody has mistyped. Of, which is below 1000, says
// which of these.
func (n *nation) ask(ctx context.Context, a asker, of int) {
	at := rand.Float64() //nolint:gosec // no secret
	number := a.customers[int(at*at*float64(len(a.customers)))]
	var o client.VerifyOptions
	switch {
	case of < 4:
		number = number[:len(number)-2] // a digit is missing: refused
	case of < 14:
		number = number[:len(number)-1] + string(rune('0'+rand.IntN(10))) //nolint:gosec // no secret
	case of < 150:
		o.Since, o.Signals = time.Now().AddDate(0, -1, 0), true
	case of < 200:
		o.Dates = true
	case of < 220:
		o.Receipt = true
	}
	v, err := n.api.VerifyWith(ctx, a.key, number, o)
	switch {
	case err == nil:
		n.counts.answers.Add(1)
		if len(v.Receipt) > 0 {
			n.keepReceipt(v)
		}
	case client.CodeOf(err) == client.CodeInvalidArgument || client.CodeOf(err) == client.CodeNotApplicable:
		n.counts.refused.Add(1)
	case ctx.Err() == nil:
		n.counts.troubles.Add(1)
	}
}

// reportEvents reports what has happened to an operator's lines in the last seconds: to
// some that nobody watches, and to one of the bank's customers.
func (n *nation) reportEvents(ctx context.Context, o *operator, token client.Secret) error {
	now := time.Now()
	var events []client.LineEvent
	add := func(number string, e client.LineEvent) {
		e.ID, e.PhoneNumber, e.EffectiveAt = newID(), number, now
		events = append(events, e)
	}
	for range 1 + rand.IntN(3) { //nolint:gosec // no secret
		add(n.fresh(o), pickEvent())
	}
	if customer, e, ok := n.customerEvent(o); ok {
		add(customer, e)
	}
	through := map[string]time.Time{client.TopicLifecycle: now, client.TopicSIM: now}
	receipt, err := n.api.ReportEventsByTopic(ctx, token, events, through)
	if err != nil {
		return err
	}
	n.counts.events.Add(int64(receipt.Applied))
	return nil
}

// pickEvent chooses what happens to an active line, in the shares of a network's day.
func pickEvent() client.LineEvent {
	switch of := rand.IntN(100); { //nolint:gosec // no secret
	case of < 45:
		return client.LineEvent{Type: client.EventSIMChanged}
	case of < 65:
		return client.LineEvent{Type: client.EventInactive}
	case of < 77:
		return client.LineEvent{Type: client.EventEnded, Reason: "SURRENDERED"}
	case of < 87:
		return client.LineEvent{Type: client.EventBarred, Reason: "LOST"}
	case of < 95:
		return client.LineEvent{Type: client.EventTransferred}
	default:
		return client.LineEvent{Type: client.EventParked}
	}
}

// customerChanges is what happens to a customer's line, one after the other, each time
// that it is the customer's turn.
var customerChanges = []client.LineEvent{
	{Type: client.EventSIMChanged},
	{Type: client.EventBarred, Reason: "LOST"},
	{Type: client.EventUnbarred},
	{Type: client.EventInactive},
	{Type: client.EventUsed},
	{Type: client.EventParked},
	{Type: client.EventReturned},
}

// customerEvent returns the next event of a customer of the bank, if the customer is one of
// the operator's.
func (n *nation) customerEvent(o *operator) (number string, e client.LineEvent, ok bool) {
	size := n.customerBase() / 100 * o.share
	if size == 0 {
		return "", e, false
	}
	turn := n.st.next("customers of "+o.code) - 1
	return o.number(turn % size), customerChanges[turn/size%int64(len(customerChanges))], true
}

// reportPorts lets the clearing house report a port, and that there were no others.
func (n *nation) reportPorts(ctx context.Context, token client.Secret) error {
	from := rand.IntN(len(n.lines))                             //nolint:gosec // no secret
	to := (from + 1 + rand.IntN(len(n.lines)-1)) % len(n.lines) //nolint:gosec // no secret
	event := client.LineEvent{ID: newID(), PhoneNumber: n.fresh(n.lines[from]), Type: client.EventPorted, EffectiveAt: time.Now(), Network: n.lines[to].code}
	receipt, err := n.api.ReportEventsByTopic(ctx, token, []client.LineEvent{event}, map[string]time.Time{client.TopicPort: time.Now()})
	if err != nil {
		return err
	}
	n.counts.events.Add(int64(receipt.Applied))
	return nil
}

// reportFlag lets the central bank flag a line.
func (n *nation) reportFlag(ctx context.Context, token client.Secret) error {
	level := []string{"MEDIUM", "MEDIUM", "HIGH", "VERY_HIGH"}[rand.IntN(4)] //nolint:gosec // no secret
	event := client.LineEvent{ID: newID(), PhoneNumber: n.fresh(n.lines[rand.IntN(3)]), Type: client.EventFlagged, EffectiveAt: time.Now(), Level: level}
	receipt, err := n.api.ReportEvents(ctx, token, []client.LineEvent{event}, time.Time{})
	if err != nil {
		return err
	}
	n.counts.events.Add(int64(receipt.Applied))
	return nil
}

// readFeed reads the bank's feed, beside the webhooks, and goes on where it was.
func (n *nation) readFeed(ctx context.Context) {
	for ctx.Err() == nil {
		save := func(_ context.Context, position string) error { n.st.setFeed(position); return nil }
		for _, err := range n.api.Feed(ctx, n.key(keyWatch), client.FeedOptions{Position: n.st.feed(), Save: save, Follow: true}) {
			if err != nil {
				if ctx.Err() == nil {
					n.counts.troubles.Add(1)
				}
				break
			}
			n.counts.feed.Add(1)
		}
		pause.For(ctx, time.Second)
	}
}
