package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/server"
)

func (a *app) documentsCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "documents",
		Short: "List, hold, delete and check documents",
		Long: `Documents are files that entities upload. The service scans and inspects each one, and nobody can open it before it is
clean; then staff accept or reject it, in the portal or over the API. A member of staff who has logged in over the API acts here
with --session-file.`,
		Example: "  lineproof documents list --state clean",
	}, a.documentsListCommand(), a.documentsShowCommand(),
		a.documentsHoldCommand(), a.documentsReleaseCommand(), a.documentsDeleteCommand(), a.documentsRescanCommand(), a.documentsCheckCommand())
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
	console.IDFlag(cmd, &f.Entity, "entity", "only documents of the entity with this entityUid")
	cmd.Flags().StringSliceVar(&states, "state", nil, "only documents in this state; may be repeated")
	cmd.Flags().StringVar(&f.Type, "type", "", "only documents of this type, such as CAC_CERTIFICATE")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	console.Complete(cmd, "state", stateNames()...)
	console.Complete(cmd, "type", document.Types...)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
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
		return console.List(a.Console, *asJSON, list, console.AsIs,
			"DOCUMENT, ENTITY, TYPE, STATE, SINCE, HELD, REASON", func(d *documentJSON) []any {
				return []any{d.ID, d.EntityName, d.Label, d.State, d.MovedAt, d.Held, d.Reason}
			})
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
	cmd.RunE = backend.On(a.Console, "DOCUMENT", func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		d, err := b.Documents().Find(ctx, id)
		if err != nil {
			return err
		}
		moves, err := b.Documents().History(ctx, id)
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
