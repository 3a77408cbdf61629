package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/pg"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the settings, the machine and the database, and say what to do",
		Long: `Checks everything that the service needs, changes nothing, and prints one line for each check: ok, warn or fail,
what was found and what to do about it. Exits with 6 when any check fails.

Run it with the settings and as the user of the service.`,
		Example: `  lineproof doctor
  lineproof doctor --json`,
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		c := a.examine(cmd.Context())
		if *asJSON {
			if err := a.printJSON(map[string]any{"healthy": !c.failed(), "findings": c.findings}); err != nil {
				return err
			}
		} else {
			for _, f := range c.findings {
				fmt.Fprintln(a.out, f.line())
			}
		}
		if c.failed() {
			return errTrouble
		}
		return nil
	})
	return cmd
}

// verdict is how a check ended.
type verdict string

const (
	fine    verdict = "ok"
	doubt   verdict = "warn"
	trouble verdict = "fail"
)

// finding is what one check found.
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

// checkup gathers findings.
type checkup struct {
	findings []finding
}

func (c *checkup) ok(check, found string)       { c.add(fine, check, found, "") }
func (c *checkup) warn(check, found, do string) { c.add(doubt, check, found, do) }
func (c *checkup) fail(check, found, do string) { c.add(trouble, check, found, do) }
func (c *checkup) add(v verdict, check, found, do string) {
	c.findings = append(c.findings, finding{Verdict: v, Check: check, Found: found, Do: do})
}

func (c *checkup) failed() bool {
	for _, f := range c.findings {
		if f.Verdict == trouble {
			return true
		}
	}
	return false
}

// examine runs all checks. A check that cannot be made, because one before it
// failed, is left out.
func (a *app) examine(ctx context.Context) *checkup {
	c := &checkup{}
	cfg, err := a.settings(ctx)
	if e, ok := errors.AsType[*config.Error](err); ok {
		for _, complaint := range e.Complaints {
			c.fail("settings", complaint, "")
		}
		return c
	}
	c.ok("settings", "nothing is wrong with them")
	c.dataDirectory(cfg.Data)
	c.pepper(cfg)
	c.certificate(cfg)
	c.bucket(ctx, cfg)
	c.scanner(ctx, cfg)

	pool, err := connect(ctx, cfg)
	switch {
	case errors.Is(err, pg.ErrSchema):
		c.fail("database", "it has no role "+cfg.DatabaseRole, "run: lineproof migrate")
		return c
	case pg.Away(err):
		c.fail("database", err.Error(), "check LINEPROOF_DATABASE_URL, and that PostgreSQL runs and can be reached from here")
		return c
	case err != nil:
		c.fail("database", err.Error(), "check the login in LINEPROOF_DATABASE_URL, and that it was granted the role "+cfg.DatabaseRole)
		return c
	}
	defer pool.Close()
	d := &databaseCheckup{checkup: c, pool: pool, cfg: cfg}
	d.examine(ctx)
	return c
}
