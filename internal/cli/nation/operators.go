package nation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// operator is an operator and its lines.
type operator struct {
	code, name, admin string

	share   int64 // of a hundred lines of the nation
	network linefile.SyntheticNetwork
	lines   *linefile.Generator
}

// digits is how many digits a Nigerian number has, with its country code.
const digits = 13

// newOperators returns the operators, with lines in the shares of a market that one of
// them leads.
func newOperators(lines int64, asOf time.Time) ([]*operator, error) {
	rows, _, ok := numbering.Shipped("NG")
	if !ok {
		return nil, errors.New("nation: there is no numbering plan")
	}
	plan, err := numbering.New(rows, digits)
	if err != nil {
		return nil, err
	}
	list := []*operator{
		{code: "MTN", name: "MTN (demo)", admin: "Grace Musa", share: 50},
		{code: "AIRTEL", name: "Airtel (demo)", admin: "Jide Cole", share: 33},
		{code: "GLO", name: "Glo (demo)", admin: "Lami Yusuf", share: 13},
		{code: "T2", name: "T2 (demo)", admin: "Musa Garba", share: 4},
	}
	for i, o := range list {
		network, known := plan.Network(o.code)
		if !known {
			return nil, errors.New("nation: the numbering plan lacks " + o.code)
		}
		o.network = linefile.SyntheticNetwork{Seed: uint64(i + 1), Plan: plan, Network: network, Lines: lines * o.share / 100, AsOf: asOf}
		if o.lines, err = o.network.Generator(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// number returns the i-th of the operator's lines that were active in its snapshot. They
// are taken in an order in which neighbours lie far apart.
func (o *operator) number(i int64) string {
	const stride = 15_485_863 // a prime, so that no line comes twice in a round
	for at := i * stride; ; at += 7 {
		n, was := o.lines.At(at % o.network.Lines)
		if was.State == line.StateActive {
			return n.E164()
		}
	}
}

// supplyLines lets every operator send its lines as a file and waits until they count.
func (n *nation) supplyLines(ctx context.Context) error {
	if err := n.files(n.path("supply")); err != nil {
		return err
	}
	group, sending := errgroup.WithContext(ctx)
	for i, o := range n.lines {
		group.Go(func() error {
			return n.once("lines "+o.code, func() error {
				return n.supplySnapshot(sending, o, func(rows int64) { n.show.progress(rows, i, n.st.Lines) })
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return n.once("ports begin", func() error {
		token, err := n.token(ctx, clearingHouse)
		if err != nil {
			return err
		}
		_, err = n.api.ReportEventsByTopic(ctx, token, nil, map[string]time.Time{client.TopicPort: time.Now()})
		return err
	})
}

// supplySnapshot writes the file of an operator, sends it and waits.
func (n *nation) supplySnapshot(ctx context.Context, o *operator, progress func(rows int64)) error {
	file := n.path("supply", strings.ToLower(o.code)+".csv.zst")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := o.writeSnapshot(file); err != nil {
			return err
		}
	}
	im, err := n.sendFile(ctx, o, client.LinesFile{Kind: client.ImportSnapshot, AsOf: n.st.AsOf, ContentType: "application/zstd"}, file)
	if err != nil {
		return err
	}
	im, err = n.waitImport(ctx, o, im.ID, progress)
	if err == nil && im.State != client.ImportApplied {
		err = fmt.Errorf("the file of %s is %s: %s", o.code, im.State, im.Reason)
	}
	return err
}

func (o *operator) writeSnapshot(file string) (err error) {
	out, err := os.OpenFile(file+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // in the directory of the nation
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	z, err := zstd.NewWriter(out)
	if err == nil {
		err = errors.Join(o.network.Snapshot(z), z.Close())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("nation: write a supply file: %w", err)
	}
	return fault.Wrap(os.Rename(file+".new", file), "nation")
}

// sendFile sends a file in the name of an operator.
func (n *nation) sendFile(ctx context.Context, o *operator, f client.LinesFile, file string) (*client.LineImport, error) {
	token, err := n.token(ctx, o.name)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(file) //nolint:gosec // a file that the nation has written
	if err != nil {
		return nil, fmt.Errorf("nation: %w", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	f.Content = in
	return n.api.SendLines(ctx, token, f)
}

// waitImport waits until a file is applied, refused or held.
func (n *nation) waitImport(ctx context.Context, o *operator, id string, progress func(rows int64)) (*client.LineImport, error) {
	token, err := n.token(ctx, o.name)
	if err != nil {
		return nil, err
	}
	for {
		im, err := n.api.Import(ctx, token, id)
		if err != nil || im.IsEnded() || im.State == client.ImportHeld {
			return im, err
		}
		if im.State == "applying" {
			progress(im.Rows)
		}
		if pause.For(ctx, 200*time.Millisecond); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}
