package order

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// AcceptTopic is the approval by which the assurances of a topic are believed again.
const AcceptTopic approval.Kind = "supply.accept"

// detailTopic is a detail of the approval, beside detailNetwork.
const detailTopic = "topic"

// Acceptance lets a topic count as fresh again whose assurances were false too often.
type Acceptance struct {
	Network string // its code; "" for PORT, which is the clearing house's
	Topic   string
	Reason  string
	By      audit.Actor
	Request uuid.UUID // the id of the HTTP request; zero for none
}

// subjectOf is the subject of the approval about a topic: two requests about one topic have the same.
func subjectOf(network, topic string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("lineproof:supply:"+network+":"+topic))
}

// Accept requests that a topic be believed again, and returns the approval that must be confirmed
// first. It is zero, and the topic believed, if the operator acts alone because there are not two
// administrators yet.
func (s *Service) Accept(ctx context.Context, a Acceptance) (pending uuid.UUID, err error) {
	topic, known := line.ParseTopic(a.Topic)
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", a.Reason)
	wrong.Check(known, "topic", fault.NotAllowed, "Give LIFECYCLE, SIM or PORT.")
	wrong.Check(!known || (topic == line.TopicPort) == (a.Network == ""), "network", fault.NotAllowed,
		"Give the code of the network for LIFECYCLE and SIM. PORT is the clearing house's and has none.")
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	now := s.now()
	request := approval.Request{
		Kind: AcceptTopic, Subject: subjectOf(a.Network, a.Topic), Details: map[string]string{detailNetwork: a.Network, detailTopic: a.Topic},
		Reason: a.Reason, By: a.By, Request: a.Request, At: now,
	}
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		if err := s.Supply.CheckDoubtful(ctx, tx, a.Network, topic, now); err != nil {
			return err
		}
		alone, err := registry.MayActAlone(ctx, tx, a.By)
		if err != nil {
			return err
		}
		if alone {
			return s.accept(ctx, tx, approval.Alone(request))
		}
		pending, err = approval.Create(ctx, tx, registry.CheckStaff, request)
		return err
	})
	return pending, err
}

// accept lets a topic be believed again, with its audit entry.
func (s *Service) accept(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	topic, known := line.ParseTopic(a.Details[detailTopic])
	if !known {
		return supply.ErrNotDoubtful
	}
	if err := s.Supply.AcceptTopic(ctx, tx, a.Details[detailNetwork], topic, a.DecidedAt); err != nil {
		return err
	}
	after := map[string]any{"reason": a.Reason}
	if a.RequestedBy != a.DecidedBy {
		after = a.Both()
	}
	for name, value := range a.Details {
		after[name] = value
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.TopicAccepted, Subject: a.Subject, Request: a.Request, After: after,
	})
}
