package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/server"
)

func (a *app) documentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "documents",
		Short: "List, read, review, hold, delete and check documents",
		Long: `Documents are files that entities upload. The service scans and inspects each one, and nobody can open it before it is
clean; then staff accept or reject it, here or over the API. A member of staff who has logged in over the API acts here
with --session-file.`,
		Example: "  lineproof documents list --state clean",
	}
	cmd.AddCommand(a.documentsListCommand(), a.documentsShowCommand(), a.documentsContentCommand(), a.documentsAcceptCommand(), a.documentsRejectCommand(),
		a.documentsHoldCommand(), a.documentsReleaseCommand(), a.documentsDeleteCommand(), a.documentsRescanCommand(), a.documentsCheckCommand())
	return cmd
}

// onDocuments wraps the function of a command that needs the documents with
// their files.
func (a *app) onDocuments(fn func(cmd *cobra.Command, args []string, b *backend.Backend, docs *document.Store) error) func(*cobra.Command, []string) error {
	return backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		stores, err := server.OpenStores(b.Config)
		if err != nil {
			return err
		}
		defer func() { _ = stores.Close() }()
		docs, err := server.OpenDocuments(b.Config, b.Pool, stores.Documents)
		if err != nil {
			return err
		}
		return fn(cmd, args, b, docs)
	})
}

// onDocument is [app.onDocuments] for a command about one document.
func (a *app) onDocument(fn func(cmd *cobra.Command, id uuid.UUID, b *backend.Backend, docs *document.Store) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := console.ParseID("DOCUMENT", args[0])
		if err != nil {
			return err
		}
		return a.onDocuments(func(cmd *cobra.Command, _ []string, b *backend.Backend, docs *document.Store) error {
			return fn(cmd, id, b, docs)
		})(cmd, args)
	}
}

// documentJSON is a document as printed with --json, with the field names of the
// API.
type documentJSON struct {
	ID         string               `json:"documentId"`
	Entity     string               `json:"entityUid"`
	EntityName string               `json:"entityName"`
	Type       string               `json:"type"`
	Label      string               `json:"label"`
	FileName   string               `json:"fileName"`
	MediaType  string               `json:"mediaType"`
	Size       int64                `json:"size"`
	SHA256     string               `json:"sha256"`
	State      string               `json:"state"`
	Reason     string               `json:"reason"`
	Note       string               `json:"note"`
	UploadedAt string               `json:"uploadedAt"`
	MovedAt    string               `json:"movedAt"`
	Replaces   string               `json:"replaces,omitempty"`
	ReplacedBy string               `json:"replacedBy,omitempty"`
	Held       bool                 `json:"held"`
	HeldFor    string               `json:"heldFor,omitempty"`
	History    []documentChangeJSON `json:"history,omitempty"`
}

type documentChangeJSON struct {
	At     string `json:"at"`
	From   string `json:"from,omitempty"`
	To     string `json:"to"`
	By     string `json:"by"`
	Reason string `json:"reason"`
	Note   string `json:"note"`
}

func newDocumentJSON(d *document.Document) documentJSON {
	return documentJSON{
		ID: d.ID.String(), Entity: d.Entity.String(), EntityName: d.EntityName, Type: d.Type, Label: d.Label, FileName: d.FileName, MediaType: d.MediaType,
		Size: d.Size, SHA256: hex.EncodeToString(d.SHA256[:]), State: string(d.State), Reason: d.Reason, Note: d.Note,
		UploadedAt: console.FormatTime(d.Created), MovedAt: console.FormatTime(d.Moved), Replaces: console.FormatID(d.Replaces.UUID), ReplacedBy: console.FormatID(d.ReplacedBy.UUID),
		Held: d.Held, HeldFor: d.HeldFor,
	}
}

func (a *app) documentsListCommand() *cobra.Command {
	var f document.Filter
	var entity string
	var states []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List documents, newest first",
		Long: `Lists documents, newest first. With only --state clean it lists the documents that wait for a decision, those that have
waited longest first.`,
		Example: `  lineproof documents list --state clean
  lineproof documents list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "only documents of the entity with this entityUid")
	cmd.Flags().StringSliceVar(&states, "state", nil, "only documents in this state; may be repeated")
	cmd.Flags().StringVar(&f.Type, "type", "", "only documents of this type, such as CAC_CERTIFICATE")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	console.Complete(cmd, "state", stateNames()...)
	console.Complete(cmd, "type", document.Types...)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
		if f.Entity, err = console.ParseOptionalID("--entity", entity); err != nil {
			return err
		}
		for _, s := range states {
			if !strings.Contains(" "+strings.Join(stateNames(), " ")+" ", " "+s+" ") {
				return console.Usagef("--state must be one of: %s", strings.Join(stateNames(), ", "))
			}
			f.States = append(f.States, document.State(s))
		}
		if *limit < 1 {
			return console.Usagef("--limit must be at least 1")
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		list, err := listDocuments(cmd.Context(), b.Documents(), f, *limit)
		if err != nil {
			return err
		}
		rows := [][]string{{"DOCUMENT", "ENTITY", "TYPE", "STATE", "SINCE", "HELD", "REASON"}}
		for _, d := range list {
			rows = append(rows, []string{d.ID, d.EntityName, d.Label, d.State, d.MovedAt, strconv.FormatBool(d.Held), d.Reason})
		}
		return a.Print(*asJSON, list, rows...)
	})
	return cmd
}

func stateNames() []string {
	names := make([]string, len(document.States))
	for i, s := range document.States {
		names[i] = string(s)
	}
	return names
}

// listDocuments reads pages until it has limit documents.
func listDocuments(ctx context.Context, docs *document.Store, f document.Filter, limit int) ([]documentJSON, error) {
	list := []documentJSON{}
	for {
		f.Limit = limit - len(list)
		page, next, err := docs.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page {
			list = append(list, newDocumentJSON(&page[i]))
		}
		if next == "" || len(list) >= limit {
			return list, nil
		}
		f.After = next
	}
}

func (a *app) documentsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show DOCUMENT", Short: "Show a document and its history", Args: cobra.ExactArgs(1),
		Long:    "Shows a document without its content, and every change of its state: when, from which state to which, by whom, and why.",
		Example: "  lineproof documents show 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, args []string) error {
		id, err := console.ParseID("DOCUMENT", args[0])
		if err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		d, err := b.Documents().Find(cmd.Context(), id)
		if err != nil {
			return err
		}
		moves, err := b.Documents().History(cmd.Context(), id)
		if err != nil {
			return err
		}
		s := newDocumentJSON(&d)
		for _, m := range moves {
			s.History = append(s.History, documentChangeJSON{console.FormatTime(m.At), string(m.From), string(m.To), actorName(m.Actor), m.Reason, m.Note})
		}
		return a.Print(*asJSON, s, s.rows()...)
	})
	return cmd
}

func (s *documentJSON) rows() [][]string {
	rows := [][]string{
		{"document", s.ID},
		{"entity", s.Entity + " " + s.EntityName},
		{"type", s.Label},
		{"file", fmt.Sprintf("%q, %s, %d bytes", s.FileName, s.MediaType, s.Size)},
		{"sha256", s.SHA256},
		{"state", s.State + " since " + s.MovedAt},
		{"reason", strings.TrimSpace(s.Reason + " " + s.Note)},
		{"replaces", s.Replaces},
		{"replaced by", s.ReplacedBy},
		{"held for", s.HeldFor},
	}
	for _, m := range s.History {
		rows = append(rows, []string{m.At, m.To + ", by " + m.By + " " + strings.TrimSpace(m.Reason+" "+m.Note)})
	}
	return rows
}

func (a *app) documentsContentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "content DOCUMENT", Short: "Write the file of a document", Args: cobra.ExactArgs(1),
		Long: `Writes the file of a document that is clean, accepted or rejected, byte for byte as it was uploaded, to standard output
or to a new file. The access is recorded in the audit trail.`,
		Example: "  lineproof documents content 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --out certificate.pdf",
	}
	name := cmd.Flags().String("out", "", "write to this file, which must not exist, instead of standard output")
	session := sessionFlag(cmd)
	cmd.RunE = a.Run(a.onDocument(func(cmd *cobra.Command, id uuid.UUID, b *backend.Backend, docs *document.Store) (err error) {
		if _, interactive := console.Terminal(a.Env.Stdout); interactive && *name == "" {
			return console.Usagef("an uploaded file is not printed on a terminal: name a file with --out")
		}
		by, err := a.actor(cmd.Context(), b, *session)
		if err != nil {
			return err
		}
		_, content, err := docs.Content(cmd.Context(), id, by, uuid.Nil)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }() // nothing was written
		out := a.Out
		if *name != "" {
			f, failed := os.OpenFile(*name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if failed != nil {
				return fmt.Errorf("create the file: %w", failed)
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			out = f
		}
		if _, err := io.Copy(out, content); err != nil {
			return fmt.Errorf("write the document: %w", err)
		}
		return nil
	}))
	return cmd
}
