package alerts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// prometheus is a real Prometheus that scrapes nodes every second.
type prometheus struct {
	*process.Server

	site    *site
	address string
}

// startPrometheus starts Prometheus with the rules of a directory.
func (s *site) startPrometheus(ctx context.Context, rules string, targets ...string) (*prometheus, error) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		return nil, errors.New("there is no prometheus; install the package prometheus")
	}
	p := &prometheus{site: s}
	for _, address := range []*string{&p.address, &s.exporterAddress} {
		if *address, err = freeAddress(ctx); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "lineproof-prometheus-")
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s/recording.rules.yml, %s/alerts.rules.yml]\nscrape_configs: [{job_name: lineproof, static_configs: [{targets: [%s]}]}, {job_name: node, static_configs: [{targets: [%q]}]}]\n",
		rules, rules, `"`+strings.Join(targets, `", "`)+`"`, s.exporterAddress)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	p.Server, err = process.New(process.Spec{
		Program: program, Dir: dir, Timeout: 30 * time.Second,
		Args: []string{"--config.file=" + filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + p.address, "--log.level=warn"},
		Ready: func(ctx context.Context) error {
			_, err := s.get(ctx, "http://"+p.address+"/-/ready")
			return err
		},
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := p.Start(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// sample is a series of the result of a query, with its value now.
type sample struct {
	labels map[string]string
	value  string
}

// query evaluates an expression now.
func (p *prometheus) query(ctx context.Context, expr string) ([]sample, error) {
	body, err := p.site.get(ctx, "http://"+p.address+"/api/v1/query?query="+url.QueryEscape(expr))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string `json:"metric"`
				Value  [2]any            `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	var all []sample
	for _, r := range answer.Data.Result {
		all = append(all, sample{r.Metric, fmt.Sprint(r.Value[1])})
	}
	return all, nil
}

// firing returns the names of the alerts that fire. Of an objective only the quickest rule counts:
// the others last for hours.
func (p *prometheus) firing(ctx context.Context) (map[string]bool, error) {
	all, err := p.query(ctx, `ALERTS{alertstate="firing"}`)
	names := map[string]bool{}
	for _, s := range all {
		if window := s.labels["window"]; window == "" || window == "1h" {
			names[s.labels["alertname"]] = true
		}
	}
	return names, err
}
