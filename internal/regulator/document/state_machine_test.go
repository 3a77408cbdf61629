package document_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

// modelDocument is the model's state of a document.
type modelDocument struct {
	id       uuid.UUID
	label    string
	leads    document.State // where a scan leads
	content  []byte
	way      []document.State
	held     bool
	replaced bool
	steps    []audit.Action
}

func (p *modelDocument) state() document.State { return p.way[len(p.way)-1] }

func (p *modelDocument) to(s document.State, a audit.Action) {
	p.way = append(p.way, s)
	p.steps = append(p.steps, a)
}

func (p *modelDocument) over() bool {
	return slices.Contains([]document.State{document.Rejected, document.Refused, document.Infected}, p.state())
}

// machine drives a store and a model of it with the same steps.
type machine struct {
	*fixture

	t         *rapid.T
	ctx       context.Context
	documents []*modelDocument
}

// fails compares an error with the one that the model expects.
func (m *machine) fails(what string, got, want error) {
	if (want == nil && got != nil) || !errors.Is(got, want) {
		m.t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func (m *machine) pick() *modelDocument {
	if len(m.documents) == 0 {
		m.t.Skip("there is nothing yet")
	}
	return rapid.SampledFrom(m.documents).Draw(m.t, "document")
}

func (m *machine) uploads(t *rapid.T) {
	p := &modelDocument{label: rapid.SampledFrom([]string{licence, "A letter"}).Draw(t, "label"), way: []document.State{document.Received}, steps: []audit.Action{audit.DocumentUploaded}}
	p.leads = rapid.SampledFrom([]document.State{document.Clean, document.Clean, document.Refused, document.Infected}).Draw(t, "content")
	switch p.leads {
	case document.Refused:
		p.content = broken()
	case document.Infected:
		p.content = infected()
	default:
		p.content = honest()
	}
	p.id = m.upload(t, p.label, p.content)
	d := must(m.Find(m.ctx, p.id))(t)
	for _, old := range slices.Backward(m.documents) {
		if old.label == p.label && old.over() && !old.replaced {
			old.replaced = true
			if d.Replaces != pg.ID(old.id) {
				t.Fatalf("the document replaces %v, want %s", d.Replaces, old.id)
			}
			m.documents = append(m.documents, p)
			return
		}
	}
	if d.Replaces.Valid {
		t.Fatalf("the document replaces %v, want none", d.Replaces.UUID)
	}
	m.documents = append(m.documents, p)
}

func (m *machine) scans(*rapid.T) {
	p := m.pick()
	state, err := m.Scan(m.ctx, p.id)
	m.fails("scan", err, nil)
	if !p.state().Settled() {
		p.way = append(p.way, document.Scanning)
		switch p.leads {
		case document.Refused:
			p.to(p.leads, audit.DocumentRefused)
		case document.Infected:
			p.to(p.leads, audit.DocumentInfected)
		default:
			p.to(p.leads, audit.DocumentScanned)
		}
	}
	if state != p.state() {
		m.t.Fatalf("Scan = %s, want %s", state, p.state())
	}
}

func (m *machine) reviews(t *rapid.T) {
	p, accept := m.pick(), rapid.Bool().Draw(t, "accept")
	_, err := m.Review(m.ctx, document.Review{Document: p.id, Accept: accept, Reason: "so be it", Actor: reviewer})
	if p.state() != document.Clean {
		m.fails("review", err, document.ErrNotWaiting)
		return
	}
	m.fails("review", err, nil)
	if accept {
		p.to(document.Accepted, audit.DocumentAccepted)
	} else {
		p.to(document.Rejected, audit.DocumentRejected)
	}
}

func (m *machine) rescans(*rapid.T) {
	p := m.pick()
	err := m.Rescan(m.ctx, p.id, "a false alarm", operator)
	switch {
	case !p.state().Settled():
		m.fails("rescan", err, nil)
	case p.over() && p.state() != document.Rejected && !p.replaced:
		m.fails("rescan", err, nil)
		p.to(document.Received, audit.DocumentRescanned)
	default:
		m.fails("rescan", err, document.ErrNotRefused)
	}
}

func (m *machine) holds(t *rapid.T) {
	p, held := m.pick(), rapid.Bool().Draw(t, "held")
	err := m.Hold(m.ctx, p.id, held, "a suit", operator)
	switch {
	case p.state() == document.Deleted:
		m.fails("hold", err, document.ErrDeleted)
		return
	case held:
		p.steps = append(p.steps, audit.DocumentHeld)
	case !p.held:
		m.fails("release", err, document.ErrNotHeld)
		return
	default:
		p.steps = append(p.steps, audit.DocumentReleased)
	}
	m.fails("hold", err, nil)
	p.held = held
}

func (m *machine) deletes(*rapid.T) {
	p := m.pick()
	err := m.Delete(m.ctx, p.id, "over", operator)
	switch {
	case p.state() == document.Deleted:
		m.fails("delete again", err, nil)
	case p.held:
		m.fails("delete", err, document.ErrHeld)
	case !p.state().Settled():
		m.fails("delete", err, document.ErrUnsettled)
	default:
		m.fails("delete", err, nil)
		p.to(document.Deleted, audit.DocumentDeleted)
	}
}

// retains lets the retention of every decided document pass.
func (m *machine) retains(*rapid.T) {
	m.move(48 * time.Hour)
	_, err := m.DeleteExpired(m.ctx)
	m.fails("retain", err, nil)
	inForce := m.accepted(licence)
	for _, p := range m.documents {
		if (p.over() || p.state() == document.Accepted) && !p.held && p != inForce {
			p.to(document.Deleted, audit.DocumentDeleted)
		}
	}
}

func (m *machine) accepted(label string) *modelDocument {
	for _, p := range slices.Backward(m.documents) {
		if p.label == label && p.state() == document.Accepted {
			return p
		}
	}
	return nil
}

// agrees compares where the documents are with the model.
func (m *machine) agrees(t *rapid.T) {
	for _, p := range m.documents {
		d := must(m.Find(m.ctx, p.id))(t)
		if d.State != p.state() || d.Held != p.held || d.ReplacedBy.Valid != p.replaced {
			t.Fatalf("the document is %s, held %v, replaced by %v; want %s, %v, %v", d.State, d.Held, d.ReplacedBy, p.state(), p.held, p.replaced)
		}
	}
}

// proves compares everything with the model.
func (m *machine) proves(t *rapid.T) {
	m.agrees(t)
	for _, p := range m.documents {
		var way []document.State
		for i, move := range must(m.History(m.ctx, p.id))(t) {
			if i > 0 && (move.From != way[i-1] || !slices.Contains(move.From.Next(), move.To)) {
				t.Fatalf("a move from %s to %s after %v", move.From, move.To, way)
			}
			way = append(way, move.To)
		}
		if !slices.Equal(way, p.way) {
			t.Fatalf("the way is %v, want %v", way, p.way)
		}
		b, err := m.read(p.id)
		if p.state().Open() {
			p.steps = append(p.steps, audit.DocumentOpened)
			if m.fails("content", err, nil); !bytes.Contains(b, []byte("/Subtype/Image")) || bytes.Contains(b, p.content[8:]) {
				t.Fatal("something else than pictures is shown")
			}
		} else if m.fails("content", err, document.ErrNotClean); len(b) > 0 {
			t.Fatal("content is shown")
		}
		if got := m.actions(t, p.id); !slices.Equal(got, p.steps) {
			t.Fatalf("the audit trail says %v, want %v", got, p.steps)
		}
	}
	requirement := must(m.Requirements(m.ctx, m.entity))(t)[1]
	if in := m.accepted(licence); (requirement.State == document.RequirementAccepted) != (in != nil) || (in != nil && requirement.Document.UUID != in.id) {
		t.Fatalf("the requirement is %+v", requirement)
	}
}

// Whatever is done, in whatever order, a document makes only allowed changes of
// state; its history, the audit trail, its content and the requirements follow.
func TestADocumentGoesOnlyItsWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Retention = map[string]time.Duration{licence: 24 * time.Hour, document.Other: 24 * time.Hour}
	rapid.Check(t, func(rt *rapid.T) {
		w.entity = w.newEntity(t, true)
		m := &machine{fixture: w, t: rt, ctx: t.Context()}
		rt.Repeat(map[string]func(*rapid.T){
			"upload": m.uploads, "scan": m.scans, "scan some more": m.scans, "review": m.reviews, "rescan": m.rescans, "hold": m.holds,
			"delete": m.deletes, "let time pass": m.retains, "": m.agrees,
		})
		m.proves(rt)
	})
}
