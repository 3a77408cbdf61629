// Package operate has the commands of the people who run the service: the schema of the
// database, rows that decide access, and the check of everything the service needs:
// settings, machine, bucket, virus scanner, database and, with --ha, what a cluster needs.
package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
)

// DoctorCommand returns the command "doctor".
func DoctorCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the settings, the machine and the database, and say what to do",
		Long: `Checks everything that the service needs, changes nothing, and prints one line for each check: ok, warn or fail,
what was found and what to do about it. Exits with 6 when any check fails.

Run it with the same settings and as the same user as the service.

With --ha it expects a cluster and fails where one machine gets a warning: every host of LINEPROOF_DATABASE_URL answers, one
of them is the primary, the others follow it, a synchronous standby confirms commits, the log is archived, and at least two
nodes run, with the same version, settings, pepper and files.

With --tune it checks nothing and prints settings of PostgreSQL for a machine of this size that PostgreSQL has to itself,
to which --nodes nodes with these settings connect.`,
		Example: `  lineproof doctor
  lineproof doctor --json
  lineproof doctor --ha
  lineproof doctor --tune --memory 64 --nodes 3 >/etc/postgresql/15/main/conf.d/lineproof.conf`,
		Args: cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	ha := cmd.Flags().Bool("ha", false, "expect a cluster: fail where one machine gets a warning")
	tune := cmd.Flags().Bool("tune", false, "print settings of PostgreSQL instead")
	gigabytes := cmd.Flags().Int("memory", 0, "with --tune: the memory of PostgreSQL's machine in GiB (default: of this one)")
	nodes := cmd.Flags().Int("nodes", 2, "with --tune: how many nodes connect")
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		if *tune {
			return printTuning(cmd.Context(), con, int64(*gigabytes)<<30, *nodes, *asJSON)
		}
		r := &report{strict: *ha}
		r.runAll(cmd.Context(), con)
		if *asJSON {
			if err := con.PrintJSON(map[string]any{"healthy": !r.failed(), "findings": r.findings}); err != nil {
				return err
			}
		} else {
			for _, f := range r.findings {
				fmt.Fprintln(con.Out, f.line())
			}
		}
		if r.failed() {
			return console.ErrProblems
		}
		return nil
	})
	return cmd
}

// printTuning prints settings of PostgreSQL.
func printTuning(ctx context.Context, con *console.Console, memory int64, nodes int, asJSON bool) error {
	if memory < 0 || nodes < 1 {
		return console.Usagef("--memory and --nodes must be positive")
	}
	cfg, err := con.Settings(ctx)
	if err != nil {
		return err
	}
	all := tuning(cmp.Or(memory, memoryOfMachine()), nodes*cfg.Connections())
	if asJSON {
		return con.PrintJSON(all)
	}
	return writeTuning(con.Out, all)
}

// verdict is the result of a check.
type verdict string

const (
	passed  verdict = "ok"
	warning verdict = "warn"
	failure verdict = "fail"
)

// finding is the result of one check.
type finding struct {
	Verdict verdict `json:"verdict"`
	Check   string  `json:"check"`
	Found   string  `json:"found"`
	Do      string  `json:"do,omitempty"` // what to do about it
}

func (f finding) line() string {
	text := fmt.Sprintf("%-4s  %s: %s", f.Verdict, f.Check, f.Found)
	if f.Do != "" {
		text += "; " + f.Do
	}
	return text
}

// report collects the findings of all checks.
type report struct {
	strict   bool // of a cluster
	findings []finding
}

func (r *report) ok(check, found string)       { r.add(passed, check, found, "") }
func (r *report) warn(check, found, do string) { r.add(warning, check, found, do) }
func (r *report) fail(check, found, do string) { r.add(failure, check, found, do) }

// risk reports what one machine can be run with, and a cluster not.
func (r *report) risk(check, found, do string) {
	if r.strict {
		r.fail(check, found, do)
	} else {
		r.warn(check, found, do)
	}
}

func (r *report) add(v verdict, check, found, do string) {
	r.findings = append(r.findings, finding{Verdict: v, Check: check, Found: found, Do: do})
}

func (r *report) failed() bool {
	for _, f := range r.findings {
		if f.Verdict == failure {
			return true
		}
	}
	return false
}

// runAll runs all checks. A check is skipped if it depends on one that failed.
func (r *report) runAll(ctx context.Context, con *console.Console) {
	cfg, err := con.Settings(ctx)
	if e, ok := errors.AsType[*config.Error](err); ok {
		for _, complaint := range e.Problems {
			r.fail("settings", complaint, "")
		}
		return
	}
	r.ok("settings", "all are valid")
	r.dataDirectory(cfg.Data)
	r.disk(cfg.Data)
	r.pepper(cfg)
	r.certificate(cfg)
	r.peers(cfg)
	r.protections(cfg)
	r.bucket(ctx, cfg)
	r.scanner(ctx, cfg)
	r.confinement(cfg, confined.LandlockVersion(), confined.Missing())

	r.hosts(ctx, cfg, maxBehind)
	pool, err := backend.Connect(ctx, cfg)
	switch {
	case errors.Is(err, pg.ErrSchema):
		r.fail("database", "the role "+cfg.DatabaseRole+" does not exist", "run: lineproof migrate")
		return
	case pg.IsUnavailable(err):
		r.fail("database", err.Error(), "check LINEPROOF_DATABASE_URL, and that PostgreSQL runs and can be reached from here")
		return
	case err != nil:
		r.fail("database", err.Error(), "check the login in LINEPROOF_DATABASE_URL, and that it was granted the role "+cfg.DatabaseRole)
		return
	}
	defer pool.Close()
	d := &databaseChecks{report: r, pool: pool, cfg: cfg}
	d.run(ctx)
}
