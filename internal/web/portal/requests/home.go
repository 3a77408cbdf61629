package requests

import (
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	homeDays     = 30
	homeMessages = 5
	// keysExpireSoon is when the home page begins to name a key that expires, as the
	// first e-mail does.
	keysExpireSoon = 30 * 24 * time.Hour
	maxNamedKeys   = 3 // of those; more are counted
)

// showHome serves GET /portal/home.
func (p *Pages) showHome(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), portal.VisitOf(r)
	e, err := p.Registry.Entity(ctx, v.Who.Entity)
	if err != nil {
		return err
	}
	d := HomeData{Now: p.Now().UTC()}
	if e.Supplies {
		if err := p.fillSupply(r, &d); err != nil {
			return err
		}
	}
	if e.DocumentRequired {
		if err := p.fillDocuments(r, &d); err != nil {
			return err
		}
	}
	if e.Verifies {
		if err := p.fillUsage(r, &d); err != nil {
			return err
		}
	}
	if d.Messages, err = p.NewestMessages(r, homeMessages); err != nil {
		return err
	}
	return p.Show(w, r, kit.Page{Title: "Home", Lead: e.Name}, Home(d))
}

// fillDocuments names required documents that are missing or were rejected.
func (p *Pages) fillDocuments(r *http.Request, d *HomeData) error {
	needed, err := p.Documents.Requirements(r.Context(), portal.VisitOf(r).Who.Entity)
	if err != nil {
		return err
	}
	for _, n := range needed {
		switch n.State {
		case document.RequirementMissing:
			d.Attention = append(d.Attention, Attention{Tone: kit.Warn, Text: "Document missing: " + documents.DocumentType(n.Type), Href: "/portal/documents"})
		case document.RequirementRejected:
			d.Attention = append(d.Attention, Attention{Tone: kit.Bad, Text: "Document rejected: " + documents.DocumentType(n.Type), Href: "/portal/documents"})
		}
	}
	return nil
}

// fillUsage fills in how the applications of the organisation use the service.
func (p *Pages) fillUsage(r *http.Request, d *HomeData) error {
	ctx, entity, now := r.Context(), portal.VisitOf(r).Who.Entity, d.Now
	days, err := p.Tally.Days(ctx, entity, access.Live, now.AddDate(0, 0, 1-homeDays), now)
	if err != nil {
		return err
	}
	used, err := p.Tally.DailyUsage(ctx, entity, access.Live, now.AddDate(0, 0, -6), now)
	if err != nil {
		return err
	}
	u := &Usage{Today: days[len(days)-1].Total, LastWeek: days[len(days)-8].Total, Weekday: now.Weekday().String(), P95: "–"}
	u.Answers, _ = kit.AnswersChart(days)
	var times tally.Times
	for _, day := range used {
		u.Week, times = u.Week+day.Refused, times.Plus(day.Times)
	}
	if p95 := times.Quantile(0.95); p95 > 0 {
		u.P95 = strconv.FormatFloat(float64(p95.Microseconds())/1000, 'f', 1, 64) + " ms"
	}
	u.Refused, u.Failed = used[len(used)-1].Refused, used[len(used)-1].Failed
	if err := p.fillKeys(r, d, u); err != nil {
		return err
	}
	if err := p.fillConnections(r, d, u); err != nil {
		return err
	}
	u.Corrected, u.Acknowledged, err = impact.CountOf(ctx, p.Pool, entity, now.AddDate(0, 0, -homeDays))
	if u.Corrected > u.Acknowledged {
		d.Attention = append(d.Attention, Attention{Tone: kit.Warn, Text: kit.Count(u.Corrected-u.Acknowledged) + " past answers would be different today and are not acknowledged", Href: correctionsPath})
	}
	d.Usage = u
	return err
}

// fillKeys counts the active keys and names those that expire soon.
func (p *Pages) fillKeys(r *http.Request, d *HomeData, u *Usage) error {
	keys, err := p.Access.Keys(r.Context(), portal.VisitOf(r).Who.Entity)
	if err != nil {
		return err
	}
	u.KeysState = kit.Good
	var soon []Attention
	for i := range keys {
		k := &keys[i]
		if !k.RevokedAt.IsZero() || (!k.ExpiresAt.IsZero() && !k.ExpiresAt.After(d.Now)) {
			continue
		}
		u.Keys++
		if k.Mode == access.Live && !k.ExpiresAt.IsZero() && k.ExpiresAt.Sub(d.Now) < keysExpireSoon {
			u.KeysState = kit.Warn
			soon = append(soon, Attention{
				Tone: kit.Warn, Text: "Key " + k.Name + " expires in " + expiresIn(k.ExpiresAt.Sub(d.Now)), Href: "/portal/keys/" + k.ID.String(),
			})
		}
	}
	if len(soon) > maxNamedKeys {
		soon = []Attention{{Tone: kit.Warn, Text: kit.Count(int64(len(soon))) + " keys expire within " + expiresIn(keysExpireSoon), Href: "/portal/keys"}}
	}
	d.Attention = append(d.Attention, soon...)
	if u.Keys == 0 {
		u.KeysState = kit.Neutral
		d.Attention = append(d.Attention, Attention{Tone: kit.Info, Text: "Generate an API key to send a first request", Href: "/portal/keys"})
	}
	return nil
}

func events(n int64) string {
	if n == 1 {
		return "1 event"
	}
	return kit.Count(n) + " events"
}

// expiresIn writes a time as whole days, or as hours of the last day.
func expiresIn(d time.Duration) string {
	if d < 24*time.Hour {
		return kit.Hours(max(int(d/time.Hour), 1))
	}
	return kit.Days(int(d / (24 * time.Hour)))
}

// fillConnections counts webhook endpoints and watch-lists, and names those in trouble.
func (p *Pages) fillConnections(r *http.Request, d *HomeData, u *Usage) error {
	ctx, entity := r.Context(), portal.VisitOf(r).Who.Entity
	endpoints, err := p.Webhooks.Endpoints(ctx, feed.Owner{Entity: entity, Mode: access.Live})
	if err != nil {
		return err
	}
	u.EndpointState = kit.Neutral
	for i := range endpoints {
		e := &endpoints[i]
		u.Endpoints++
		if u.EndpointState == kit.Neutral {
			u.EndpointState = kit.Good
		}
		trouble, tone := "", kit.Warn
		switch {
		case e.State == webhook.Disabled:
			trouble, tone = " is disabled", kit.Bad
		case e.State == webhook.Active && e.Failing():
			trouble = " is failing, " + events(e.Behind) + " waiting"
		case e.Dead > 0:
			trouble = " refused " + events(e.Dead) + " for good"
		}
		if trouble != "" {
			u.EndpointState = kit.Warn
			d.Attention = append(d.Attention, Attention{Tone: tone, Text: "Webhook endpoint " + e.Name + trouble, Href: "/portal/webhooks/" + e.ID.String()})
		}
	}
	lists, err := (&watchlist.Service{Pool: p.Pool}).Lists(ctx, watchlist.Owner{Entity: entity, Mode: access.Live})
	if err != nil {
		return err
	}
	held := 0
	for i := range lists {
		u.Lists, u.Watched = u.Lists+1, u.Watched+lists[i].Members
		if lists[i].State == watchlist.Held {
			held++
		}
	}
	if held > 0 {
		d.Attention = append(d.Attention, Attention{Tone: kit.Warn, Text: strconv.Itoa(held) + " of your watch-lists wait for the regulator", Href: "/portal/messages"})
	}
	return nil
}
