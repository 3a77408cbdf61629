package document

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"filippo.io/age"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// OriginalKind is the approval of a download of the original. It is stored; never change it.
const OriginalKind approval.Kind = "document.original"

const (
	// OriginalLifetime is for how long the original can be downloaded after the confirmation.
	OriginalLifetime = 24 * time.Hour
	// MaxOriginals is how often it can be downloaded in that time.
	MaxOriginals = 3
)

var (
	// ErrOriginalWaits reports a request that no second person has confirmed.
	ErrOriginalWaits = fault.New(fault.IncompatibleState, "This request waits for another administrator, who confirms it under Approvals.")
	// ErrOriginalOver reports a request that was refused, is over or is used up.
	ErrOriginalOver = fault.New(fault.IncompatibleState, "This request was refused, its 24 hours are over, or the original was downloaded 3 times. If it is still needed, request it again.")
	errAltered      = fault.New(fault.Aborted, "The stored file is missing or differs from what was uploaded, so it is not handed out. The service operator restores it from a backup: lineproof documents check --deep.")
)

// OriginalRequest asks for the original of a document, in an archive that only the holder of
// a key can open.
type OriginalRequest struct {
	Document  uuid.UUID
	Recipient string // a public key of age
	Reason    string
	By        audit.Actor
	Request   uuid.UUID // the id of the HTTP request; zero for none
}

func (r *OriginalRequest) check() error {
	var wrong fault.Form
	approval.CheckReason(&wrong, "originalReason", r.Reason)
	_, err := age.ParseX25519Recipient(r.Recipient)
	wrong.Check(err == nil, "recipient", fault.BadFormat, "Enter a public key of age, which begins with age1. The program age-keygen makes one.")
	return wrong.Err()
}

// RequestOriginal stores a request, which always waits for a second person, and returns the
// id of its approval.
func (s *Store) RequestOriginal(ctx context.Context, r OriginalRequest) (id uuid.UUID, err error) {
	if err := r.check(); err != nil {
		return uuid.Nil, err
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := hasOriginal(ctx, tx, r.Document)
		if err != nil {
			return err
		}
		id, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: OriginalKind, Subject: d.ID, Entity: d.Entity, Reason: r.Reason, By: r.By, Request: r.Request, At: s.now(),
			Details: map[string]string{"recipient": r.Recipient, "type": d.Type},
		})
		return err
	})
	return id, err
}

// hasOriginal returns a document whose scan is finished and whose content was not deleted.
func hasOriginal(ctx context.Context, from pg.DB, id uuid.UUID) (Document, error) {
	d, err := find(ctx, from, id)
	switch {
	case err != nil:
		return Document{}, err
	case d.State == Deleted:
		return Document{}, ErrDeleted
	case !d.State.Settled():
		return Document{}, fault.New(fault.IncompatibleState, "The document has not been scanned yet. Request its original after the scan.")
	}
	return d, nil
}

// Effects returns the effect of the approval: the requester may download the original. That
// the approval was confirmed is in the approval itself, which is signed.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{OriginalKind: func(ctx context.Context, tx pg.Tx, a approval.Approval) error {
		_, err := hasOriginal(ctx, tx, a.Subject)
		return err
	}}
}

// Original returns the original of a document in a sealed archive, to the person who
// requested it, and audits that before. The original is compared with what was uploaded, and
// nothing in it is read.
func (s *Store) Original(ctx context.Context, document, id uuid.UUID, by audit.Actor, request uuid.UUID) (c Copy, err error) {
	a, err := (&approval.Service{Pool: s.Pool, Now: s.Now}).Find(ctx, id)
	if err != nil {
		return Copy{}, err
	}
	if err := s.mayTake(&a, document, by); err != nil {
		return Copy{}, err
	}
	d, err := hasOriginal(ctx, s.Pool, document)
	if err != nil {
		return Copy{}, err
	}
	f, err := s.fetch(ctx, &d)
	if errors.Is(err, ErrDamaged) {
		return Copy{}, errAltered.Because(err)
	}
	if err != nil {
		return Copy{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	out, err := s.spoolFile()
	if err != nil {
		return Copy{}, err
	}
	defer func() {
		if err != nil {
			_ = out.Close()
		}
	}()
	now := s.now()
	hash := sha256.New()
	if err := seal(io.MultiWriter(out, hash), f, &d, &a, now); err != nil {
		return Copy{}, err
	}
	size, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return Copy{}, fmt.Errorf("document: measure the archive: %w", err)
	}
	if err := rewind(out); err != nil {
		return Copy{}, err
	}
	err = s.take(ctx, &a, audit.Entry{
		At: now, Actor: by, Action: audit.DocumentOriginal, Subject: d.ID, Entity: d.Entity, Request: request, After: a.Both(),
	})
	if err != nil {
		return Copy{}, err
	}
	return Copy{Document: d, Sealed: true, File: out, Size: size, SHA256: [32]byte(hash.Sum(nil))}, nil
}

// mayTake checks that a person may download the original now.
func (s *Store) mayTake(a *approval.Approval, document uuid.UUID, by audit.Actor) error {
	switch {
	case a.Kind != OriginalKind || a.Subject != document || !by.Same(a.RequestedBy):
		return approval.ErrNotFound
	case a.State == approval.Waiting:
		return ErrOriginalWaits
	case a.State != approval.Approved || !s.now().Before(a.DecidedAt.Add(OriginalLifetime)):
		return ErrOriginalOver
	}
	return nil
}

// take writes a download to the audit trail, unless there are too many already. They are
// counted there, where nothing can be deleted.
func (s *Store) take(ctx context.Context, a *approval.Approval, e audit.Entry) error {
	e.After["recipient"] = a.Details["recipient"]
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if err := registry.CheckStaff(ctx, tx, e.Actor, approval.ActionOf(OriginalKind).Request...); err != nil {
			return err
		}
		if _, err := lock(ctx, tx, e.Subject); err != nil { // two downloads at a time count one after the other
			return err
		}
		list, err := audit.List(ctx, tx, audit.Filter{Subject: e.Subject, Action: string(audit.DocumentOriginal), Since: a.DecidedAt})
		if err != nil {
			return err
		}
		taken := 0
		for i := range list {
			if list[i].After["approval"] == a.ID.String() {
				taken++
			}
		}
		if taken >= MaxOriginals {
			return ErrOriginalOver
		}
		return audit.Write(ctx, tx, e)
	})
}

// manifest says in the archive what its other file is.
type manifest struct {
	Document    uuid.UUID `json:"documentId"`
	Entity      uuid.UUID `json:"organisationId"`
	EntityName  string    `json:"organisation"`
	Type        string    `json:"type"`
	FileName    string    `json:"fileName"` // as it was uploaded
	MediaType   string    `json:"mediaType"`
	State       State     `json:"state"`
	Finding     string    `json:"finding,omitempty"`
	Size        int64     `json:"size"`
	SHA256      string    `json:"sha256"`
	UploadedAt  time.Time `json:"uploadedAt"`
	Approval    uuid.UUID `json:"approvalId"`
	Reason      string    `json:"reason"`
	RequestedBy string    `json:"requestedBy"`
	RequestedAt time.Time `json:"requestedAt"`
	ConfirmedBy string    `json:"confirmedBy"`
	ConfirmedAt time.Time `json:"confirmedAt"`
	SealedAt    time.Time `json:"sealedAt"`
}

// seal writes an archive with the original and a manifest, encrypted for the recipient. The
// original has no ending, so that no program opens it by itself when the archive is unpacked.
func seal(out io.Writer, original *os.File, d *Document, a *approval.Approval, now time.Time) error {
	about, err := json.MarshalIndent(manifest{
		Document: d.ID, Entity: d.Entity, EntityName: d.EntityName, Type: d.Label, FileName: d.FileName, MediaType: d.MediaType, State: d.State, Finding: d.Reason,
		Size: d.Size, SHA256: hex.EncodeToString(d.SHA256[:]), UploadedAt: d.Created, Approval: a.ID, Reason: a.Reason,
		RequestedBy: personOf(a.RequestedBy), RequestedAt: a.RequestedAt, ConfirmedBy: personOf(a.DecidedBy), ConfirmedAt: a.DecidedAt, SealedAt: now,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("document: write the manifest: %w", err)
	}
	recipient, err := age.ParseX25519Recipient(a.Details["recipient"])
	if err != nil {
		return fmt.Errorf("document: read the recipient: %w", err)
	}
	sealed, err := age.Encrypt(out, recipient)
	if err != nil {
		return fmt.Errorf("document: seal: %w", err)
	}
	files := tar.NewWriter(sealed)
	head := func(name string, size int64) error {
		return files.WriteHeader(&tar.Header{Name: "document-" + d.ID.String() + "/" + name, Mode: 0o400, Size: size, ModTime: now})
	}
	err = head("manifest.json", int64(len(about)))
	if err == nil {
		_, err = files.Write(about)
	}
	if err == nil {
		err = head("original", d.Size)
	}
	if err == nil {
		_, err = io.Copy(files, original)
	}
	return fault.Wrap(errors.Join(err, files.Close(), sealed.Close()), "document: seal")
}

// personOf names an actor for somebody outside, who can ask the regulator who it is.
func personOf(a audit.Actor) string {
	if a.ID == uuid.Nil {
		return string(a.Kind)
	}
	return string(a.Kind) + " " + a.ID.String()
}
