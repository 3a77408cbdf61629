package remote

import (
	"context"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// jobsCommand has the commands about files of numbers.
func (r *remote) jobsCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "jobs",
		Short: "Verify files of numbers",
		Long: `Verifies files of up to 5,000,000 numbers. The API key needs the right jobs. Every row is recorded as if it had been
verified by itself, and all different numbers of a live file count at once against what you may verify in a year.`,
		Example: "  lineproof api jobs send customers.csv --wait --out answers.csv",
	}, r.jobsSendCommand(), r.jobsListCommand(), r.jobsShowCommand(), r.jobsResultCommand(), r.jobsCancelCommand())
}

func (r *remote) printJob(asJSON bool, j *client.Job) error {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"job", j.ID},
		{"name", j.Name},
		{"state", string(j.State)},
		{"rows", count(j.Rows)},
		{"answered", count(j.Answered)},
		{"rejected", count(j.Rejected)},
		{"progress", strconv.Itoa(j.Progress) + " %"},
	}
	if j.Reason != "" {
		rows = append(rows, []string{"reason", j.Reason})
	}
	if j.KeptUntil != nil {
		rows = append(rows, []string{"result kept until", console.FormatTime(*j.KeptUntil)})
	}
	return r.Print(asJSON, j, rows...)
}

func (r *remote) jobsSendCommand() *cobra.Command {
	var form client.NewJob
	var out string
	var wait bool
	cmd := &cobra.Command{
		Use: "send FILE", Short: "Send a file of numbers; - is standard input", Args: cobra.ExactArgs(1),
		Long: `Sends a file of numbers and prints its job: CSV with a header line, number and optionally since and externalId, plain or
compressed with gzip or zstd. With --wait the command ends when the job has ended, and shows how far it has come; the
exit code is 6 if rows were rejected. With --out it also waits, and writes the result to a file.`,
		Example: "  lineproof api jobs send customers.csv.gz\n  lineproof api jobs send customers.csv --wait --out answers.csv",
	}
	cmd.Flags().StringVar(&form.Name, "name", "", "a name for people")
	cmd.Flags().StringVar(&form.IdempotencyKey, "idempotency-key", "", "identifies this job, so that a retry does not create it twice")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the job has ended")
	cmd.Flags().StringVar(&out, "out", "", "wait, and write the result to this file; - is standard output")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		content, sent, err := r.OpenUpload(args[0])
		if err != nil {
			return err
		}
		defer sent()
		j, err := c.CreateJob(ctx, key, form)
		if err != nil {
			return err
		}
		r.Note("job %s", j.ID) // so that it can be looked at if this command is stopped
		if j, err = c.SendJobFile(ctx, key, j.ID, content, "application/octet-stream"); err != nil {
			return err
		}
		sent()
		if wait || out != "" {
			if j, err = r.waitForJob(ctx, c, key, j.ID); err != nil {
				return err
			}
		}
		if out != "" && j.State == client.JobDone {
			if err := r.saveResult(ctx, c, key, j.ID, out); err != nil {
				return err
			}
		}
		if out != "-" {
			if err := r.printJob(*asJSON, j); err != nil {
				return err
			}
		}
		if j.State == client.JobFailed || j.State == client.JobCancelled || j.Rejected > 0 {
			return console.ErrProblems
		}
		return nil
	})
}

// jobInterval is the time between two looks at a job.
const jobInterval = time.Second

// waitForJob shows how far a job has come until it has ended.
func (r *remote) waitForJob(ctx context.Context, c *client.Client, key client.Secret, id string) (*client.Job, error) {
	display := r.NewCounter()
	defer display.End()
	for {
		j, err := c.Job(ctx, key, id)
		if err != nil {
			return nil, err
		}
		if j.Rows > 0 {
			display.Items(string(j.State), int(j.Answered+j.Rejected), int(j.Rows))
		}
		if j.State.Ended() {
			return j, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(jobInterval):
		}
	}
}

// saveResult writes a result to a file or to standard output.
func (r *remote) saveResult(ctx context.Context, c *client.Client, key client.Secret, id, path string) error {
	if path == "-" {
		return c.JobResult(ctx, key, id, r.Out)
	}
	return writeWhole(path, func(w io.Writer) error { return c.JobResult(ctx, key, id, w) })
}

// writeWhole writes a file that is complete or not there.
func writeWhole(path string, write func(io.Writer) error) error {
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	err = write(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(part) // the first error is the cause
		return err
	}
	return os.Rename(part, path)
}

func (r *remote) jobsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the jobs, newest first", Args: cobra.NoArgs,
		Long:    "Lists the last 100 jobs of your organisation in the mode of the API key, newest first.",
		Example: "  lineproof api jobs list",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, _ []string) error {
		jobs, err := c.Jobs(ctx, key, "")
		if err != nil {
			return err
		}
		return console.List(r.Console, *asJSON, jobs, console.AsIs,
			"JOB, NAME, STATE, ROWS, REJECTED, PROGRESS, CREATED", func(j *client.Job) []any {
				return []any{j.ID, j.Name, j.State, j.Rows, j.Rejected, strconv.Itoa(j.Progress) + " %", console.FormatTime(j.CreatedAt)}
			})
	})
}

func (r *remote) jobsShowCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "show JOB", Short: "Show how far a job has come", Args: cobra.ExactArgs(1),
		Long:    "Shows the state of a job and how many rows are answered and rejected.",
		Example: "  lineproof api jobs show \"$JOB\" --wait",
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the job has ended")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		look := c.Job
		if wait {
			look = func(ctx context.Context, key client.Secret, id string) (*client.Job, error) {
				return r.waitForJob(ctx, c, key, id)
			}
		}
		j, err := look(ctx, key, args[0])
		if err != nil {
			return err
		}
		return r.printJob(*asJSON, j)
	})
}

func (r *remote) jobsResultCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "result JOB", Short: "Write the result of a job as CSV", Args: cobra.ExactArgs(1),
		Long:    "Writes the result of a job as CSV: one line for each row of the file, with its answer or why it was rejected.",
		Example: "  lineproof api jobs result \"$JOB\" --out answers.csv",
	}
	cmd.Flags().StringVar(&out, "out", "-", "the file to write; - is standard output")
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		return r.saveResult(ctx, c, key, args[0], out)
	})
}

func (r *remote) jobsCancelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel JOB", Short: "Cancel a job", Args: cobra.ExactArgs(1),
		Long:    "Ends a job. What is recorded stays recorded, and what was counted stays counted; there is no result.",
		Example: "  lineproof api jobs cancel \"$JOB\"",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		j, err := c.CancelJob(ctx, key, args[0])
		if err != nil {
			return err
		}
		return r.printJob(*asJSON, j)
	})
}
