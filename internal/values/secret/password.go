package secret

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	mathrand "math/rand/v2"
	"runtime"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrBusy reports that the maximum number of passwords is being hashed and the queue
// is full. The caller is told to retry later instead of waiting without bound.
var ErrBusy = &fault.Error{
	Code:       fault.Unavailable,
	Message:    "Too many logins are being processed at the moment. Try again in a few seconds.",
	RetryAfter: time.Second,
}

// maxRetrySeconds is the longest Retry-After. It is random: if all rejected callers
// got the same, they would all return in the same second and delay everything else.
const maxRetrySeconds = 10

func busy() *fault.Error {
	e := *ErrBusy
	e.RetryAfter = retryAfter()
	return &e
}

func retryAfter() time.Duration {
	return time.Duration(1+mathrand.IntN(maxRetrySeconds)) * time.Second //nolint:gosec // it need not be unpredictable
}

const (
	defaultQueue = 32
	saltLen      = 16
	keyLen       = 32
)

// Cost is the cost of one password under argon2id. Zero fields mean the minimum that
// OWASP recommends: 19456 KiB, 2 passes, 1 thread.
type Cost struct {
	MemoryKiB uint32
	Time      uint32
	Threads   uint8
}

// orDefault fills the zero fields, and limits the others to what parsePHC accepts:
// a hash that was created must never be rejected.
func (c Cost) orDefault() Cost {
	c.Threads = min(cmp.Or(c.Threads, 1), maxThreads)
	c.Time = min(cmp.Or(c.Time, 2), maxTime)
	c.MemoryKiB = max(min(cmp.Or(c.MemoryKiB, 19456), maxMemoryKiB), minMemoryPerThreadKiB*uint32(c.Threads))
	return c
}

// Passwords hashes and verifies passwords with argon2id. What is hashed is the HMAC of
// the password and of the account that it belongs to, under a key derived from the
// pepper: a hash verifies for its own account only, and nobody can make one without the
// pepper, not even with the right to write to the database. Each takes memory and a core
// for tens of milliseconds, so only a few are processed at once, a few more wait, and
// the rest are rejected: a flood of logins must take neither the memory nor the cores
// that everything else needs.
type Passwords struct {
	// Derive computes keys. NewPasswords sets DeriveKey, which does it in this
	// process; a server gives the work to a process of low priority instead.
	Derive func(Derivation) ([]byte, error)

	peppers *Peppers
	cost    Cost
	decoy   phc // matches no password
	queue   *queue
}

// NewPasswords returns a Passwords that hashes at cost c, processes parallel
// passwords at once (0 means half of the cores that Go may use) and lets so many more
// wait, of known callers and of others each (0 means 32).
func NewPasswords(peppers *Peppers, c Cost, parallel, waiting int) *Passwords {
	if parallel <= 0 {
		parallel = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if waiting <= 0 {
		waiting = defaultQueue
	}
	c = c.orDefault()
	return &Passwords{
		Derive:  DeriveKey,
		peppers: peppers,
		cost:    c,
		decoy:   phc{cost: c, pepper: peppers.all[0].version, salt: randomBytes(saltLen), key: randomBytes(keyLen)},
		queue:   newQueue(parallel, waiting),
	}
}

// Hash returns the hash of the password of an account: a PHC string that contains its
// salt, its cost and the version of the newest pepper.
func (p *Passwords) Hash(ctx context.Context, account [16]byte, password Text) (string, error) {
	leave, err := p.Enter(ctx, Caller{})
	if err != nil {
		return "", err
	}
	defer leave()
	return p.Rehash(account, password)
}

// Rehash is [Passwords.Hash] for a caller between [Passwords.Enter] and leave.
func (p *Passwords) Rehash(account [16]byte, password Text) (string, error) {
	h := phc{cost: p.cost, pepper: p.peppers.all[0].version, salt: randomBytes(saltLen)}
	var err error
	if h.key, err = p.derive(h, account, password, keyLen); err != nil {
		return "", err
	}
	return h.String(), nil
}

// Outdated reports whether a hash was made with an older pepper, and should be replaced
// while the password is known.
func (p *Passwords) Outdated(hash string) bool {
	h, err := parsePHC(hash)
	return err == nil && p.peppers.version(h.pepper) > 0
}

// Matches reports whether password is that of the account and has this hash. The empty
// hash means an account that does not exist. For it, and for a hash that cannot be read
// or was made with a pepper that is not in the list, the result is false after the same
// time as for any other, so that the duration does not reveal which accounts exist. Call
// it between [Passwords.Enter] and leave. Enter comes first, so that a rejected caller
// has cost nothing else.
func (p *Passwords) Matches(hash string, account [16]byte, password Text) (bool, error) {
	h, err := parsePHC(hash)
	known := err == nil && p.peppers.version(h.pepper) >= 0
	if !known {
		h = p.decoy
	}
	key, err := p.derive(h, account, password, len(h.key))
	if err != nil {
		return false, err
	}
	same := subtle.ConstantTimeCompare(key, h.key) == 1
	return same && known, nil
}

// InFlight returns how many passwords are being processed.
func (p *Passwords) InFlight() int {
	taken, _ := p.queue.counts()
	return taken
}

// Enter waits for a slot. It returns ErrBusy if the queue is full, and when ctx ends;
// otherwise the caller must call leave when done.
func (p *Passwords) Enter(ctx context.Context, c Caller) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, busy().Because(context.Cause(ctx)) // the caller no longer waits for the result
	}
	if !p.queue.enter(ctx, c) {
		return nil, busy().Because(context.Cause(ctx))
	}
	return p.queue.leave, nil
}

// derive computes the key of a hash.
func (p *Passwords) derive(h phc, account [16]byte, password Text, length int) ([]byte, error) {
	input := p.peppers.all[p.peppers.version(h.pepper)].sign(forPasswords, string(account[:]), password.Reveal())
	d := Derivation{Password: input, Salt: h.salt, Cost: h.cost, KeyLen: length}
	defer clear(d.Password)
	return p.Derive(d)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: without randomness the process ends
	return b
}
