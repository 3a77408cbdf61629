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

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/server"
)

func (a *app) documentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "documents",
		Short: "List, read, decide upon, hold, delete and check documents",
		Long: `Documents are the papers that entities upload. The service scans and inspects each, and shows it to nobody before it is
clean; then staff accept or reject it, here or over the API. A member of staff who has logged in over the API acts here
with --session-file.`,
		Example: "  lineproof documents list --state clean",
	}
	cmd.AddCommand(a.documentsListCommand(), a.documentsShowCommand(), a.documentsContentCommand(), a.documentsAcceptCommand(), a.documentsRejectCommand(),
		a.documentsHoldCommand(), a.documentsReleaseCommand(), a.documentsDeleteCommand(), a.documentsRescanCommand(), a.documentsCheckCommand())
	return cmd
}

// onDocuments opens the documents, with their files, for fn.
func (a *app) onDocuments(fn func(cmd *cobra.Command, args []string, p *parts, docs *document.Store) error) func(*cobra.Command, []string) error {
	return a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		stores, err := server.OpenStores(p.cfg)
		if err != nil {
			return err
		}
		defer func() { _ = stores.Close() }()
		docs, err := server.OpenDocuments(p.cfg, p.pool, stores.Documents)
		if err != nil {
			return err
		}
		return fn(cmd, args, p, docs)
	})
}

// onDocument does the same for a command about one document.
func (a *app) onDocument(fn func(cmd *cobra.Command, id uuid.UUID, p *parts, docs *document.Store) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := parseID("DOCUMENT", args[0])
		if err != nil {
			return err
		}
		return a.onDocuments(func(cmd *cobra.Command, _ []string, p *parts, docs *document.Store) error {
			return fn(cmd, id, p, docs)
		})(cmd, args)
	}
}

// shownDocument is a document as programs read it, in the words of the API.
type shownDocument struct {
	ID         string      `json:"documentId"`
	Entity     string      `json:"entityUid"`
	EntityName string      `json:"entityName"`
	Type       string      `json:"type"`
	Label      string      `json:"label"`
	FileName   string      `json:"fileName"`
	MediaType  string      `json:"mediaType"`
	Size       int64       `json:"size"`
	SHA256     string      `json:"sha256"`
	State      string      `json:"state"`
	Reason     string      `json:"reason"`
	Note       string      `json:"note"`
	UploadedAt string      `json:"uploadedAt"`
	MovedAt    string      `json:"movedAt"`
	Replaces   string      `json:"replaces,omitempty"`
	ReplacedBy string      `json:"replacedBy,omitempty"`
	Held       bool        `json:"held"`
	HeldFor    string      `json:"heldFor,omitempty"`
	History    []shownMove `json:"history,omitempty"`
}

type shownMove struct {
	At     string `json:"at"`
	From   string `json:"from,omitempty"`
	To     string `json:"to"`
	By     string `json:"by"`
	Reason string `json:"reason"`
	Note   string `json:"note"`
}

func shownOf(d *document.Document) shownDocument {
	return shownDocument{
		ID: d.ID.String(), Entity: d.Entity.String(), EntityName: d.EntityName, Type: d.Type, Label: d.Label, FileName: d.FileName, MediaType: d.MediaType,
		Size: d.Size, SHA256: hex.EncodeToString(d.SHA256[:]), State: string(d.State), Reason: d.Reason, Note: d.Note,
		UploadedAt: moment(d.Created), MovedAt: moment(d.Moved), Replaces: orNothing(d.Replaces.UUID), ReplacedBy: orNothing(d.ReplacedBy.UUID),
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
		Long: `Lists documents, the newest first. With --state clean alone it is the queue of those that wait for a decision, and who
has waited longest is first.`,
		Example: `  lineproof documents list --state clean
  lineproof documents list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "only of the entity with this entityUid")
	cmd.Flags().StringSliceVar(&states, "state", nil, "only in this state; may be repeated")
	cmd.Flags().StringVar(&f.Type, "type", "", "only of this type, such as CAC_CERTIFICATE")
	limit := cmd.Flags().Int("limit", 100, "how many")
	completes(cmd, "state", stateNames()...)
	completes(cmd, "type", document.Types...)
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		if entity != "" {
			if f.Entity, err = parseID("--entity", entity); err != nil {
				return err
			}
		}
		for _, s := range states {
			if !strings.Contains(" "+strings.Join(stateNames(), " ")+" ", " "+s+" ") {
				return usagef("--state is one of: %s", strings.Join(stateNames(), ", "))
			}
			f.States = append(f.States, document.State(s))
		}
		if *limit < 1 {
			return usagef("--limit is below 1")
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		list, err := listDocuments(cmd.Context(), p.papers(), f, *limit)
		if err != nil {
			return err
		}
		rows := [][]string{{"DOCUMENT", "ENTITY", "TYPE", "STATE", "SINCE", "HELD", "REASON"}}
		for _, d := range list {
			rows = append(rows, []string{d.ID, d.EntityName, d.Label, d.State, d.MovedAt, strconv.FormatBool(d.Held), d.Reason})
		}
		return a.print(*asJSON, list, rows...)
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

// listDocuments reads page after page until there are enough.
func listDocuments(ctx context.Context, docs *document.Store, f document.Filter, limit int) ([]shownDocument, error) {
	list := []shownDocument{}
	for {
		f.Limit = limit - len(list)
		page, next, err := docs.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page {
			list = append(list, shownOf(&page[i]))
		}
		if next == "" || len(list) >= limit {
			return list, nil
		}
		f.After = next
	}
}

func (a *app) documentsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show DOCUMENT", Short: "Show a document and every step of its way", Args: cobra.ExactArgs(1),
		Long:    "Shows a document without its content, and every step of its way: when, from which state to which, who, and why.",
		Example: "  lineproof documents show 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := parseID("DOCUMENT", args[0])
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		d, err := p.papers().Find(cmd.Context(), id)
		if err != nil {
			return err
		}
		moves, err := p.papers().History(cmd.Context(), id)
		if err != nil {
			return err
		}
		s := shownOf(&d)
		for _, m := range moves {
			s.History = append(s.History, shownMove{moment(m.At), string(m.From), string(m.To), actorName(m.Actor), m.Reason, m.Note})
		}
		return a.print(*asJSON, s, s.rows()...)
	})
	return cmd
}

func (s *shownDocument) rows() [][]string {
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
or to a new file. That it was opened stands in the audit trail.`,
		Example: "  lineproof documents content 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --out certificate.pdf",
	}
	name := cmd.Flags().String("out", "", "write this file, which must not be there yet, and not standard output")
	session := sessionFlag(cmd)
	cmd.RunE = a.run(a.onDocument(func(cmd *cobra.Command, id uuid.UUID, p *parts, docs *document.Store) (err error) {
		if _, person := terminal(a.env.Stdout); person && *name == "" {
			return usagef("a file of unknown origin is no text for a terminal: name a file with --out")
		}
		by, err := a.actor(cmd.Context(), p, *session)
		if err != nil {
			return err
		}
		_, content, err := docs.Content(cmd.Context(), id, by, uuid.Nil)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }() // nothing was written
		out := io.Writer(a.out)
		if *name != "" {
			f, failed := os.OpenFile(*name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if failed != nil {
				return fmt.Errorf("make the file: %w", failed)
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
