package organisations

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Banner tells the people of an organisation that it is slowed or stopped, why, and what
// to do.
func (p *Pages) Banner(ctx context.Context, v *portal.Visit) (*kit.Banner, error) {
	if v.Who.Entity == uuid.Nil {
		return nil, nil
	}
	a, err := guard.RestrictionOf(ctx, p.Pool, v.Who.Entity, p.Now())
	if err != nil || a == nil {
		return nil, err
	}
	return restrictionBanner(a), nil
}

func restrictionBanner(a *guard.AlertRow) *kit.Banner {
	whose := "Your organisation is"
	if a.Sponsor != uuid.Nil {
		whose = "The organisations that the same client onboarded, yours among them, are"
	}
	found := guard.Finding(&a.Alert) + ", since " + a.Since.UTC().Format(time.RFC1123) + ". "
	if a.Level == guard.Stopped {
		return &kit.Banner{
			Tone: kit.Bad, Title: whose + " stopped: no request is answered",
			Text: "The requests look like number scanning: " + found + "Stop the application that sends them, then ask the regulator for a release. Until then every request gets 429 SCAN_SUSPECTED.", Link: refusedLink,
		}
	}
	return &kit.Banner{
		Tone: kit.Warn, Title: whose + " slowed to a tenth of the rate limits",
		Text: "The requests look like number scanning: " + found + "Stop the application that sends consecutive or unallocated numbers, then ask the regulator for a release. Requests beyond the rate get 429 SCAN_SUSPECTED, and if it continues, all do.", Link: refusedLink,
	}
}

// refusedLink leads to the requests that were refused because of the restriction.
var refusedLink = kit.Link{Label: "Show the refused requests", Href: "/portal/requests?code=SCAN_SUSPECTED"}
