package secret

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	mathrand "math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/lineproof/lineproof/internal/fault"
)

// ErrBusy reports that as many passwords are being worked on as the machine was
// promised to bear. The caller is told to come back rather than queued without end.
var ErrBusy = &fault.Error{
	Code:       fault.Unavailable,
	Message:    "Too many logins are being checked at this moment; try again in a few seconds.",
	RetryAfter: time.Second,
}

// latestBack is after how many seconds the last of a crowd is told to come back.
// Were all told the same, they would come back as the crowd they are, second by
// second, and everything else would wait behind them.
const latestBack = 10

func busy() *fault.Error {
	e := *ErrBusy
	e.RetryAfter = time.Duration(1+mathrand.IntN(latestBack)) * time.Second //nolint:gosec // nothing hangs on who guesses it
	return &e
}

const (
	defaultQueue = 32
	saltLen      = 16
	keyLen       = 32
)

// Cost is what one password costs under argon2id. Zero fields mean the least that
// OWASP advises: 19456 KiB, 2 passes, 1 thread.
type Cost struct {
	MemoryKiB uint32
	Time      uint32
	Threads   uint8
}

// orDefault fills the zero fields, and cuts the others to what Check accepts: a
// hash that was made must never be one that is refused.
func (c Cost) orDefault() Cost {
	c.Threads = min(cmp.Or(c.Threads, 1), maxThreads)
	c.Time = min(cmp.Or(c.Time, 2), maxTime)
	c.MemoryKiB = max(min(cmp.Or(c.MemoryKiB, 19456), maxMemoryKiB), minMemoryPerThreadKiB*uint32(c.Threads))
	return c
}

// Passwords hashes and checks passwords with argon2id. Each takes memory and a
// core for tens of milliseconds, so only a few are worked on at once, a few more
// wait, and the rest are refused: a flood of logins must not take the memory, nor
// the cores that answer everything else.
type Passwords struct {
	cost  Cost
	decoy string        // a hash that no password fits
	seats chan struct{} // one for everybody inside, at work or waiting
	slots chan struct{} // one for everybody at work
}

// NewPasswords returns a Passwords that hashes at cost c, works on parallel
// passwords at once (0 means half of the cores that Go may use) and lets queue more
// wait (0 means 32).
func NewPasswords(c Cost, parallel, queue int) *Passwords {
	if parallel <= 0 {
		parallel = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if queue <= 0 {
		queue = defaultQueue
	}
	c = c.orDefault()
	return &Passwords{
		cost:  c,
		decoy: phc{cost: c, salt: randomBytes(saltLen), key: randomBytes(keyLen)}.String(),
		seats: make(chan struct{}, parallel+queue),
		slots: make(chan struct{}, parallel),
	}
}

// Hash returns what is stored of a password: a PHC string that names its own salt
// and cost.
func (p *Passwords) Hash(ctx context.Context, password Text) (string, error) {
	leave, err := p.Enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()

	h := phc{cost: p.cost, salt: randomBytes(saltLen)}
	h.key = h.derive(password, keyLen)
	return h.String(), nil
}

// Matches reports whether hash was made from password. The empty hash stands for an
// account that does not exist: it is false and costs what a real one costs, so that
// the time of an answer does not tell which accounts there are. A hash that cannot
// be read is an error, for then the store is damaged. Call it between [Passwords.Enter]
// and leaving: whoever is refused there should have cost nothing else, either.
func (p *Passwords) Matches(hash string, password Text) (bool, error) {
	h, err := parsePHC(cmp.Or(hash, p.decoy))
	if err != nil {
		return false, err
	}
	same := subtle.ConstantTimeCompare(h.derive(password, len(h.key)), h.key) == 1
	return same && hash != "", nil
}

// InFlight returns how many passwords are being worked on.
func (p *Passwords) InFlight() int { return len(p.slots) }

// Enter waits for a slot. It refuses at once when nobody else may wait, and returns
// when ctx ends; otherwise the caller leaves with the function it got.
func (p *Passwords) Enter(ctx context.Context) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, busy().Because(context.Cause(ctx)) // nobody would read the result
	}
	select {
	case p.seats <- struct{}{}:
	default:
		return nil, busy()
	}
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots; <-p.seats }, nil
	case <-ctx.Done():
		<-p.seats
		return nil, busy().Because(context.Cause(ctx))
	}
}

func (h phc) derive(password Text, length int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.cost.Time, h.cost.MemoryKiB, h.cost.Threads, uint32(length)) //nolint:gosec // at most maxBytes
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: without randomness the process ends
	return b
}
