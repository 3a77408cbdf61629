// Package dashboard has the dashboards of deploy/grafana as tables: each panel with the question
// that it answers, and the JSON that Grafana imports.
//
// A dashboard is ordered as a person on call looks: is it up, is it slow, why.
package dashboard

import (
	"encoding/json"
	"fmt"
)

// Dashboard is one page of panels.
type Dashboard struct {
	ID, Title, Purpose string
	Rows               []Row
}

// Row is a group of panels under a question.
type Row struct {
	Question string
	Panels   []Panel
}

// Panel shows one or more figures.
type Panel struct {
	Title string
	// Question is what the panel answers; Grafana shows it beside the title.
	Question string
	Kind     Kind
	Unit     Unit
	Series   []Series
	// Alarm is the value from which the panel is red; nil for none. With Below it is red under it.
	Alarm *float64
	Below bool
}

// Series is a query in PromQL, and how its result is named, with labels in double braces.
type Series struct{ Query, Legend string }

// Kind is how a panel shows its figures.
type Kind string

// The kinds of panels.
const (
	Value Kind = "stat"       // one large figure
	Graph Kind = "timeseries" // over time
)

// Unit is a unit as Grafana names it.
type Unit string

// The units of panels.
const (
	Count     Unit = "short"
	PerSecond Unit = "reqps"
	Seconds   Unit = "s"
	Share     Unit = "percentunit"
	Bytes     Unit = "bytes"
	Days      Unit = "d"
)

// All returns the dashboards.
func All() []Dashboard { return []Dashboard{service(), supply(), evidence()} }

// Grafana's grid has 24 columns.
const (
	columns     = 24
	valueWidth  = 4
	valueHeight = 4
	graphWidth  = 12
	graphHeight = 8
)

// JSON returns a dashboard in the form that Grafana imports. It is the same each time.
func (d *Dashboard) JSON() ([]byte, error) {
	source := map[string]any{"type": "prometheus", "uid": "${datasource}"}
	var panels []map[string]any
	id, y := 0, 0
	for _, row := range d.Rows {
		id++
		panels = append(panels, map[string]any{"id": id, "type": "row", "title": row.Question, "collapsed": false, "panels": []any{}, "gridPos": place(0, y, columns, 1)})
		y++
		x, height := 0, 0
		for _, p := range row.Panels {
			w, h := graphWidth, graphHeight
			if p.Kind == Value {
				w, h = valueWidth, valueHeight
			}
			if x+w > columns || height != 0 && h != height {
				x, y = 0, y+height
			}
			id++
			panels = append(panels, p.json(id, place(x, y, w, h), source))
			x, height = x+w, h
		}
		y += height
	}
	text, err := json.MarshalIndent(map[string]any{
		"uid": "lineproof-" + d.ID, "title": d.Title, "description": d.Purpose, "tags": []string{"lineproof"},
		"schemaVersion": 38, "version": 1, "editable": true, "timezone": "browser", "refresh": "30s", "graphTooltip": 1,
		"time":       map[string]string{"from": "now-3h", "to": "now"},
		"templating": map[string]any{"list": []any{map[string]any{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}}},
		"panels":     panels,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %s: %w", d.ID, err)
	}
	return append(text, '\n'), nil
}

func place(x, y, w, h int) map[string]int { return map[string]int{"x": x, "y": y, "w": w, "h": h} }

func (p *Panel) json(id int, at map[string]int, source map[string]any) map[string]any {
	targets := make([]map[string]any, 0, len(p.Series))
	for i, s := range p.Series {
		targets = append(targets, map[string]any{"refId": string(rune('A' + i)), "datasource": source, "expr": s.Query, "legendFormat": s.Legend})
	}
	options := map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom"}, "tooltip": map[string]any{"mode": "multi", "sort": "desc"}}
	custom := map[string]any{"lineWidth": 1, "fillOpacity": 8, "showPoints": "never"}
	if p.Kind == Value {
		options = map[string]any{"colorMode": "value", "graphMode": "area", "textMode": "value", "reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}}
		custom = map[string]any{}
	}
	if p.Kind == Graph && p.Alarm != nil {
		custom["thresholdsStyle"] = map[string]string{"mode": "line"}
	}
	return map[string]any{
		"id": id, "type": p.Kind, "title": p.Title, "description": p.Question, "datasource": source, "gridPos": at, "targets": targets, "options": options,
		"fieldConfig": map[string]any{"overrides": []any{}, "defaults": map[string]any{"unit": p.Unit, "custom": custom, "thresholds": p.thresholds()}},
	}
}

// thresholds colours a panel: green, and red beyond the alarm.
func (p *Panel) thresholds() map[string]any {
	type step struct {
		Color string   `json:"color"`
		Value *float64 `json:"value"`
	}
	steps := []step{{"green", nil}}
	switch {
	case p.Alarm != nil && p.Below:
		steps = []step{{"red", nil}, {"green", p.Alarm}}
	case p.Alarm != nil:
		steps = append(steps, step{"red", p.Alarm})
	}
	return map[string]any{"mode": "absolute", "steps": steps}
}
