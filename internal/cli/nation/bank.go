package nation

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// receiver is the bank's server that gets webhooks. It accepts only what the service has
// signed.
type receiver struct {
	st       *state // has the keys of the endpoints
	counts   *counts
	requests atomic.Int64 // of the endpoint that is often busy
}

// ServeHTTP implements [http.Handler].
func (b *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var one struct {
		Type string `json:"type"`
		Data struct {
			Challenge string `json:"challenge"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &one) == nil && strings.HasSuffix(one.Type, ".challenge") {
		if r.URL.Path == pathSilent {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": one.Data.Challenge}) //nolint:errchkjson // a text; the service asks again
		return
	}
	hook := hookFraud
	if r.URL.Path == pathWarehouse {
		hook = hookWarehouse
		if b.requests.Add(1)%4 == 0 { // so that attempts that fail can be seen
			http.Error(w, "the warehouse is being loaded", http.StatusServiceUnavailable)
			return
		}
	}
	if _, err = client.VerifyWebhook(body, r.Header, client.Secret(b.st.key(hook).Secret)); err != nil {
		b.counts.forged.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	b.counts.webhooks.Add(1)
	w.WriteHeader(http.StatusNoContent)
}

// The paths of the receiver.
const (
	pathFraud     = "/fraud-desk"
	pathWarehouse = "/warehouse"
	pathSilent    = "/nothing"
)

// The ids of the webhooks in the state, with their keys.
const (
	hookFraud     = "webhook fraud desk"
	hookWarehouse = "webhook warehouse"
	hookCards     = "webhook card processor" // which never answers the challenge
)

// connectBank starts the bank's receiver, and lets the bank watch its customers, receive
// webhooks and send a file of numbers.
func (n *nation) connectBank(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.st.Addresses[atReceiver])
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	server := &http.Server{Handler: &receiver{st: n.st, counts: &n.counts}, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	n.goroutine.Go(func() { _ = server.Serve(ln) }) // ended by Close
	for _, s := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"watch-list", n.watchCustomers},
		{hookFraud, func(ctx context.Context) error { return n.addHook(ctx, hookFraud, "fraud desk", pathFraud, "ed25519") }},
		{hookWarehouse, func(ctx context.Context) error {
			return n.addHook(ctx, hookWarehouse, "data warehouse", pathWarehouse, "hmac")
		}},
		{hookCards, func(ctx context.Context) error {
			return n.addHook(ctx, hookCards, "card processor", pathSilent, "ed25519")
		}},
		{"job", n.sendNumbers},
		{"file of leads", n.sendLeads},
		{"test mode", n.tryTestNumbers},
		{"random watch-list", n.watchAtRandom},
	} {
		if err := n.once(s.name, func() error { return s.do(ctx) }); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (n *nation) watchCustomers(ctx context.Context) error {
	list, err := n.api.CreateWatchList(ctx, n.key(keyWatch), client.NewWatchList{Name: "customers with online banking"})
	if err != nil {
		return err
	}
	_, err = n.api.ReplaceWatchList(ctx, n.key(keyWatch), list.ID, strings.NewReader(strings.Join(n.customers(harbour), "\n")), "text/csv", false)
	return err
}

// addHook adds an endpoint of the bank and confirms it.
func (n *nation) addHook(ctx context.Context, name, called, path, algorithm string) error {
	hook, err := n.api.CreateWebhook(ctx, n.key(keyWatch), client.NewWebhook{Name: called, URL: "http://" + n.st.Addresses[atReceiver] + path, Algorithm: algorithm})
	if err != nil {
		return err
	}
	key := hook.PublicKey
	if hook.Secret != "" {
		key = string(hook.Secret)
	}
	n.st.setKey(name, secret{hook.ID, key})
	if path == pathSilent {
		return nil
	}
	_, err = n.api.ConfirmWebhook(ctx, n.key(keyWatch), hook.ID)
	return err
}

// sendNumbers lets the bank verify a file of its customers.
func (n *nation) sendNumbers(ctx context.Context) error {
	job, err := n.api.CreateJob(ctx, n.key(keyFiles), client.NewJob{Name: "customers of the branch in Ikeja"})
	if err != nil {
		return err
	}
	some := n.customers(harbour)
	file := "number\n" + strings.Join(some[:min(300, len(some))], "\n") + "\n"
	if _, err := n.api.SendJobFile(ctx, n.key(keyFiles), job.ID, strings.NewReader(file), "text/csv"); err != nil {
		return err
	}
	if _, err := n.api.CreateJob(ctx, n.key(keyFiles), client.NewJob{Name: "dormant accounts, November"}); err != nil { // waits for its file
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; pause.For(ctx, 200*time.Millisecond) {
		if job, err = n.api.Job(ctx, n.key(keyFiles), job.ID); err != nil || job.State.Ended() {
			return err
		}
	}
	return ctx.Err() // a slow machine: it goes on by itself
}

// sendLeads lets a lender send a file of consecutive numbers, which staff have to decide.
func (n *nation) sendLeads(ctx context.Context) error {
	job, err := n.api.CreateJob(ctx, n.key(keyQuickloan), client.NewJob{Name: "leads of November"})
	if err != nil {
		return err
	}
	var file strings.Builder
	file.WriteString("number\n")
	for i := range 5_000 {
		fmt.Fprintf(&file, "+234806%07d\n", 3_400_000+i)
	}
	_, err = n.api.SendJobFile(ctx, n.key(keyQuickloan), job.ID, strings.NewReader(file.String()), "text/csv")
	return err
}

// tryTestNumbers does the first steps of a developer of the bank.
func (n *nation) tryTestNumbers(ctx context.Context) error {
	for _, last := range []string{"00", "01", "02", "03", "10", "20"} {
		if _, err := n.api.Verify(ctx, n.key(keyTest), "+23472900000"+last); err != nil {
			return err
		}
	}
	return nil
}

// watchAtRandom enters numbers of which most are no lines, which staff have to look at.
func (n *nation) watchAtRandom(ctx context.Context) error {
	list, err := n.api.CreateWatchList(ctx, n.key(keyQuickloan), client.NewWatchList{Name: "leads"})
	if err != nil {
		return err
	}
	numbers := make([]string, 400)
	for i := range numbers {
		at, err := rand.Int(rand.Reader, big.NewInt(10_000_000))
		if err != nil {
			return fmt.Errorf("nation: %w", err)
		}
		numbers[i] = fmt.Sprintf("+234803%07d", at.Int64())
	}
	_, err = n.api.ChangeWatchList(ctx, n.key(keyQuickloan), list.ID, numbers, nil)
	return err
}

// customers returns the numbers of a bank's customers, spread over the operators by their
// shares. Some people are customers of two banks.
func (n *nation) customers(bank string) []string {
	size := n.customerBase()
	from := map[string]int64{harbour: 0, savanna: size / 2, paylane: size}[bank]
	list := make([]string, size)
	for i := range list {
		list[i] = n.customer(from + int64(i))
	}
	return list
}

// customerBase is how many customers each bank has.
func (n *nation) customerBase() int64 { return min(2400, n.st.Lines/25) / 100 * 100 }

// customer returns the i-th person of the nation who has a bank account.
func (n *nation) customer(i int64) string {
	o, at := n.operatorOf(i)
	return o.number(at)
}

// operatorOf returns the operator of the i-th person, and which of its lines that is.
func (n *nation) operatorOf(i int64) (o *operator, at int64) {
	rest := i % 100
	for _, o = range n.lines {
		if rest < o.share {
			break
		}
		rest -= o.share
	}
	return o, i/100*o.share + rest
}
