package alerts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/dashboard"
)

// quiet are the queries that show nothing on a healthy site, with the reason. All others must
// have data.
var quiet = map[string]string{
	"Webhook delay": "no webhook was sent, so there is no delay",
	"Certificates":  "this site has no TLS",
}

// Every panel of every dashboard shows data of a real node with traffic, scraped by a real
// Prometheus, and every label that a legend shows is there.
func TestEveryPanelHasData(t *testing.T) { //nolint:paralleltest // the tests share one site
	s := sharedSite(t)
	ctx := t.Context()
	if err := s.tellBankOfASwap(ctx); err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs(rulesDir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.startPrometheus(ctx, rules, s.private)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	defer s.load(ctx)()

	p.wantPanels(t, quiet)
}

// wantPanels checks that every query of every dashboard has data, but for those of quiet panels.
func (p *prometheus) wantPanels(t *testing.T, quiet map[string]string) {
	t.Helper()
	n := 0
	for _, d := range dashboard.All() {
		for _, r := range d.Rows {
			for _, panel := range r.Panels {
				if quiet[panel.Title] != "" {
					continue
				}
				for _, series := range panel.Series {
					if err := until(t.Context(), d.ID+", "+panel.Title, func(ctx context.Context) error { return p.hasData(ctx, series) }); err != nil {
						t.Error(err)
					}
					n++
				}
			}
		}
	}
	t.Logf("%d queries have data", n)
}

var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// hasData fails unless a query has a result with a value and the labels of its legend.
func (p *prometheus) hasData(ctx context.Context, series dashboard.Series) error {
	found, err := p.query(ctx, series.Query)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(s sample) bool { return s.value == "NaN" })
	if len(found) == 0 {
		return fmt.Errorf("%s has no data", series.Query)
	}
	for _, m := range legendLabel.FindAllStringSubmatch(series.Legend, -1) {
		has := slices.ContainsFunc(found, func(s sample) bool { _, there := s.labels[m[1]]; return there })
		if !has && !strings.HasSuffix(series.Query, "or vector(0)") {
			return fmt.Errorf("%s has no label %s: %v", series.Query, m[1], slices.Collect(maps.Keys(found[0].labels)))
		}
	}
	return nil
}

// tellBankOfASwap registers a number in a watch-list of the bank and lets its operator report a
// swap, so that the feed has an event.
func (s *site) tellBankOfASwap(ctx context.Context) error {
	key, err := s.command(ctx, "key", "create", "--entity", s.demo.EntityUID, "--name", "fraud desk", "--right", "watch", "--right", "feed")
	if err != nil {
		return err
	}
	bank := []string{"LINEPROOF_API_KEY=" + strings.TrimSpace(key)}
	text, err := s.commandWith(ctx, bank, "api", "watch", "create", "customers", "--json")
	if err != nil {
		return err
	}
	var list struct {
		ID string `json:"listId"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	if _, err := s.commandWith(ctx, bank, "api", "watch", "add", list.ID, "08031234567"); err != nil {
		return err
	}
	if err := s.reportSwap(ctx, "08031234567"); err != nil {
		return err
	}
	return until(ctx, "the feed has the swap", func(ctx context.Context) error {
		told, err := s.commandWith(ctx, bank, "api", "feed", "tail")
		if err == nil && !strings.Contains(told, "swapped") {
			err = errors.New("nothing yet")
		}
		return err
	})
}

// reportSwap reports a swap of a line as its operator.
func (s *site) reportSwap(ctx context.Context, number string) error {
	text, err := s.command(ctx, "client", "create", "--name", "mtn", "--scope", "line:supply", "--network", "MTN", "--json")
	if err != nil {
		return err
	}
	var client struct{ ClientID, ClientSecret string }
	if err := json.Unmarshal([]byte(text), &client); err != nil {
		return err
	}
	_, err = s.commandWith(ctx, []string{"LINEPROOF_API_CLIENT_ID=" + client.ClientID, "LINEPROOF_API_CLIENT_SECRET=" + client.ClientSecret},
		"api", "lines", "tell", number, "--id", fmt.Sprint("swap-", time.Now().UnixNano()), "--type", "SIM_CHANGED", "--effective-at", time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	return err
}
