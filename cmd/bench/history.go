package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// entry is one run in the history: only what can be compared with a run on another day,
// and perhaps on another machine.
type entry struct {
	When    time.Time          `json:"when"`
	Version string             `json:"version"`
	Ratios  map[string]summary `json:"ratios"`
	CPU     map[string]cpu     `json:"cpu_us"` // per request, by variant
}

type cpu struct {
	Service    float64 `json:"service,omitempty"`
	PostgreSQL float64 `json:"postgresql,omitempty"`
}

// newEntry returns the entry of a run.
func (r *report) newEntry() entry {
	e := entry{When: r.When, Version: r.Version, Ratios: map[string]summary{}, CPU: map[string]cpu{}}
	for _, x := range r.Ratios {
		if x.Goal != 0 { // a comparison with another binary belongs to that binary
			e.Ratios[x.Name] = x.Value.rounded()
		}
	}
	for _, f := range r.Variants {
		e.CPU[f.Variant] = cpu{Service: thousandths(f.ServiceCPU.Median), PostgreSQL: thousandths(f.PostgresCPU.Median)}
	}
	return e
}

// readHistory returns the runs so far: none if there is no history.
func readHistory(path string) ([]entry, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // the file that the user names
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []entry
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: read the history: %w", err)
	}
	return all, nil
}

// appendHistory adds a run to the history. A run during which the host took the cores
// away says nothing and is not added.
func appendHistory(path string, all []entry, r *report) error {
	if r.stolen() > maxStolen {
		return fmt.Errorf("bench: the host took up to %s of the cores away; the run is not added to the history", percent(r.stolen()))
	}
	text, err := json.MarshalIndent(append(all, r.newEntry()), "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // a page of the documentation
	}
	if err != nil {
		return fmt.Errorf("bench: write the history: %w", err)
	}
	return nil
}

// stolen returns the highest median share of the cores that the host took away from a
// variant.
func (r *report) stolen() (highest float64) {
	for _, f := range r.Variants {
		highest = max(highest, f.Stolen.Median)
	}
	return highest
}

// worseThan returns the ratios that are worse than in an earlier run by more than their
// noise: no round of this run is as good as the worst of that one.
func (r *report) worseThan(before *entry) (worse []string) {
	for _, x := range r.Ratios {
		old, measured := before.Ratios[x.Name]
		switch {
		case !measured || x.Goal == 0:
		case x.AtLeast && x.Value.High < old.Low, !x.AtLeast && x.Value.Low > old.High:
			worse = append(worse, fmt.Sprintf("%s: %s, and %s in %s", x.Name, spread(x.Value, r.Rounds), spread(old, r.Rounds), before.Version))
		}
	}
	return worse
}

func (s summary) rounded() summary {
	return summary{Median: thousandths(s.Median), Low: thousandths(s.Low), High: thousandths(s.High)}
}

// thousandths keeps three decimals.
func thousandths(f float64) float64 { return float64(int64(f*1000+0.5)) / 1000 }
