// Package nation runs a small nation on one machine, for people who want to see the
// service at work: operators that supply lines, a clearing house, banks that verify
// numbers, the regulator's staff, witnesses and a monitor of the public log.
//
// Everything goes the way it goes in production. What an operator of the service does
// is a command of the program; everybody else uses the API over HTTP. Nothing is
// written into the database behind their backs.
package nation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Options say how large the nation is and how long it runs.
type Options struct {
	Lines  int64         // of all operators together
	Rate   int           // verifications per second
	For    time.Duration // 0 means until ctx ends
	Listen string        // the address of the service; empty means as in the settings
	JSON   bool
}

// minLines is enough that each operator has lines in every state.
const minLines = 20_000

// nation is the nation while it runs.
type nation struct {
	con     *console.Console
	o       Options
	program string // lineproof, which runs every command
	dir     string // of all files
	env     []string
	st      *state
	api     *client.Client
	show    *display

	lines     []*operator
	counts    counts
	parts     []*part
	failed    chan error // the first part that ended by itself
	goroutine sync.WaitGroup
}

// Run creates what is missing, starts everything and runs until ctx ends, the time is
// over or a part fails.
func Run(ctx context.Context, con *console.Console, o Options) (err error) {
	if o.Lines < minLines || o.Rate < 1 || o.Rate > 1000 || o.For < 0 {
		return console.Usagef("--lines must be at least %d, --rate 1 to 1000, and --for not negative", minLines)
	}
	program, err := findProgram()
	if err != nil {
		return err
	}
	n := &nation{con: con, o: o, program: program, show: newDisplay(con, o.JSON), failed: make(chan error, 8)}
	if err := n.open(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		n.goroutine.Wait()
		n.show.end()
		err = errors.Join(err, n.stop(), n.st.save())
		n.show.note("Stopped. Run the command again to go on; to begin anew, empty the database and delete %s.", n.dir)
	}()
	err = n.settle(ctx)
	if ctx.Err() != nil {
		return nil // it was interrupted, and goes on when it is run again
	}
	if err != nil {
		return err
	}
	return n.live(ctx)
}

// settle does, in order, everything that must be there before the traffic begins.
func (n *nation) settle(ctx context.Context) error {
	for _, s := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"Create the tables", n.migrate},
		{"Start two witnesses", n.startWitnesses},
		{"Numbering plan and policy", n.enact},
		{"Clients of the operators, the clearing house and the central bank", n.createClients},
		{"Staff of the regulator", n.createStaff},
		{"Start the service", n.startService},
		{"Operators, banks and their people", n.createOrganisations},
		{"API keys", n.createKeys},
		{"Documents", n.sendDocuments},
		{"Supply the lines, as files", n.supplyLines},
		{"Watch-lists, webhooks and files of numbers", n.connectBank},
		{"Cases for staff", n.makeCases},
		{"Start the monitor", n.startMonitor},
	} {
		if err := n.show.step(s.name, func() error { return s.do(ctx) }); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// live runs the traffic and shows how it goes.
func (n *nation) live(ctx context.Context) error {
	all := n.newSummary()
	n.startTraffic(ctx)
	n.show.summary(all)
	if n.o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, n.o.For)
		defer cancel()
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	saved := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-n.failed:
			return err
		case <-tick.C:
			n.show.status(n.status())
			if time.Since(saved) > time.Minute {
				saved = time.Now()
				if err := n.st.save(); err != nil {
					return err
				}
			}
		}
	}
}

// once does something that was not done in an earlier run.
func (n *nation) once(what string, do func() error) error {
	if n.st.isDone(what) {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	return n.st.done(what)
}

// files makes sure that a directory below that of the nation is there, for its owner only.
func (n *nation) files(path string) error {
	return fault.Wrap(os.MkdirAll(path, 0o700), "nation")
}
