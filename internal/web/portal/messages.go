package portal

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	messagesPath        = "/portal/messages"
	messagePath         = "/portal/messages/{message}"
	messagesReadPath    = "/portal/read-messages"
	messageSettingsPath = "/portal/message-settings"
)

// messageRoutes are the pages of a person's messages.
func (p *Portal) messageRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: messagesPath, Right: SignedIn, Serve: p.showMessages},
		{Method: http.MethodGet, Path: messagePath, Right: SignedIn, Serve: p.openMessage},
		{Method: http.MethodPost, Path: messagesReadPath, Right: SignedIn, Action: stepup.Preference, Serve: p.readMessages},
		{Method: http.MethodPost, Path: messageSettingsPath, Right: SignedIn, Action: stepup.Preference, Serve: p.setMessages},
	}
}

// messageKind describes a kind of message: its title, whom it concerns, and whether a
// person may go without its e-mail.
type messageKind struct {
	kind   people.EmailKind
	title  string
	label  string // in the settings
	tone   kit.Tone
	staff  bool // staff get it
	others bool // organisations get it
	always bool // its e-mail cannot be turned off
}

var messageKinds = []messageKind{
	{people.ScanStopped, "Your organisation is stopped", "Your organisation is stopped", kit.Bad, false, true, true},
	{people.ScanSlowed, "Your organisation is slowed", "Your organisation is slowed", kit.Warn, false, true, true},
	{people.KeyExpires, "API keys expire soon", "API keys expire soon", kit.Warn, false, true, false},
	{people.WebhookDisabled, "A webhook endpoint was disabled", "A webhook endpoint was disabled", kit.Bad, false, true, false},
	{people.WebhookFailing, "A webhook endpoint is failing", "A webhook endpoint is failing", kit.Warn, false, true, false},
	{people.WebhookRefused, "A webhook endpoint refused events", "A webhook endpoint refuses events for good", kit.Warn, false, true, false},
	{people.DocumentRejected, "A document was rejected", "A document was rejected", kit.Bad, false, true, false},
	{people.PeopleChanged, "The regulator changes who has access", "The regulator changes who has access to your organisation", kit.Warn, false, true, true},
	{people.KeyLeaked, "An API key was reported as leaked", "Somebody reports an API key as leaked", kit.Bad, false, true, true},
	{people.CredentialAdded, "A new credential or endpoint", "A live key, a client secret or a live webhook endpoint was added", kit.Warn, false, true, true},
	{people.CredentialEnded, "A credential or endpoint has ended", "A live key was revoked, or a live webhook endpoint deleted", kit.Warn, false, true, true},
	{people.WebhookPaused, "Webhook endpoints were paused", "Webhook endpoints are paused because their key was revoked", kit.Warn, false, true, true},
	{people.FileHeld, "A file of lines waits for a decision", "A file of lines waits for a decision", kit.Warn, true, true, false},
	{people.ApprovalWaits, "An approval waits for a second person", "An approval waits for a second person", kit.Info, true, false, false},
	{people.RequestRejected, "Your request was rejected", "A request of yours was rejected", kit.Warn, true, false, false},
	{people.GuardFound, "Alert about an organisation", "The guard raises an alert about an organisation", kit.Warn, true, false, false},
	{people.ClientRefused, "A client onboards nobody until tomorrow", "A client names too many admins who have an account", kit.Warn, true, false, false},
	{people.LookupsSpent, "Somebody has used their look-ups of the day", "A member of staff has used their look-ups of the day", kit.Warn, true, false, true},
	{people.EntityAdded, "An administrator has added an organisation", "Another administrator adds an organisation", kit.Warn, true, false, true},
	{people.BreakGlass, "Somebody uses break-glass", "Somebody uses break-glass", kit.Bad, true, false, true},
}

// messagesShown is the number of messages on one page.
const messagesShown = 50

// showMessages serves GET /portal/messages.
func (p *Portal) showMessages(w http.ResponseWriter, r *http.Request) error {
	v, before := VisitOf(r), web.CursorID(r)
	list, err := message.List(r.Context(), p.Pool, v.Who.Account, before, messagesShown+1)
	if err != nil {
		return err
	}
	muted, err := message.Muted(r.Context(), p.Pool, v.Who.Account)
	if err != nil {
		return err
	}
	list, next := web.CutPage(list, messagesShown, func(m *message.Message) string { return m.ID.String() })
	links := web.PageLinks(r, web.IDCursor(before), next)
	d := kit.MessagesData{First: links.First, Next: links.Next, Now: p.Now()}
	for i := range list {
		d.Rows = append(d.Rows, messageRow(&list[i]))
		d.Unread = d.Unread || list[i].ReadAt.IsZero()
	}
	for _, k := range messageKinds {
		if (v.Who.Role != "" && k.staff) || (v.Who.Role == "" && k.others) {
			d.Kinds = append(d.Kinds, kit.MessageChoice{Kind: string(k.kind), Label: k.label, Always: k.always, On: k.always || !slices.Contains(muted, string(k.kind))})
		}
	}
	return p.Show(w, r, kit.Page{Title: "Messages", Lead: "What needs your attention. Messages are kept for 90 days."}, kit.Messages(d))
}

func messageRow(m *message.Message) kit.MessageRow {
	row := kit.MessageRow{ID: m.ID.String(), Title: m.Kind, Tone: kit.Info, About: m.About, Detail: m.Detail, At: m.CreatedAt, Unread: m.ReadAt.IsZero()}
	if i := slices.IndexFunc(messageKinds, func(k messageKind) bool { return string(k.kind) == m.Kind }); i >= 0 {
		row.Title, row.Tone = messageKinds[i].title, messageKinds[i].tone
	}
	return row
}

// NewestMessages returns the newest messages of a visitor, for the home page.
func (p *Portal) NewestMessages(r *http.Request, most int) ([]kit.MessageRow, error) {
	list, err := message.List(r.Context(), p.Pool, VisitOf(r).Who.Account, uuid.Nil, most)
	if err != nil {
		return nil, err
	}
	rows := make([]kit.MessageRow, len(list))
	for i := range list {
		rows[i] = messageRow(&list[i])
	}
	return rows, nil
}

// openMessage serves GET /portal/messages/{message}: it marks the message as read and
// leads to the page that it is about.
func (p *Portal) openMessage(w http.ResponseWriter, r *http.Request) error {
	id, err := PathID(r, "message")
	if err != nil {
		return err
	}
	m, err := message.Get(r.Context(), p.Pool, VisitOf(r).Who.Account, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	if err := message.MarkRead(r.Context(), p.Pool, m.Account, id, p.now()); err != nil {
		return err
	}
	http.Redirect(w, r, localPath(m.Path), http.StatusSeeOther)
	return nil
}

// readMessages serves POST /portal/read-messages.
func (p *Portal) readMessages(w http.ResponseWriter, r *http.Request) error {
	if err := message.MarkRead(r.Context(), p.Pool, VisitOf(r).Who.Account, uuid.Nil, p.now()); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, messagesPath, "messages.read")
}

// setMessages serves POST /portal/message-settings: the form has the kinds of which the
// person wants e-mails.
func (p *Portal) setMessages(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	var muted []string
	for _, k := range messageKinds {
		if !k.always && !slices.Contains(r.PostForm["email"], string(k.kind)) {
			muted = append(muted, string(k.kind))
		}
	}
	err := pg.InTx(r.Context(), p.Pool, func(tx pg.Tx) error { return message.Mute(r.Context(), tx, VisitOf(r).Who.Account, muted) })
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, messagesPath, "messages.set")
}

func (p *Portal) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }
