package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/statefile"
)

// feedCommand has the commands about the feed.
func (r *remote) feedCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "feed", Short: "Read what happened to the numbers that you watch",
		Long:    "Reads the feed of your organisation: what happened to the numbers of its watch-lists. The API key needs the right feed.",
		Example: "  lineproof api feed tail --position position.txt",
	}, r.feedTailCommand(), r.feedAckCommand())
}

func (r *remote) feedTailCommand() *cobra.Command {
	var file string
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use: "tail", Short: "Print the events of the feed, one a line", Args: cobra.NoArgs,
		Long: `Prints the events of the feed, one a line, and checks that none is missing, altered, moved or repeated. It begins with the
oldest event that is kept, or with --position where the last run ended. With --follow it waits for more until it is
interrupted.`,
		Example: "  lineproof api feed tail --follow --position position.txt",
	}
	flags := cmd.Flags()
	flags.StringVar(&file, "position", "", "file that keeps where the last run ended")
	flags.BoolVarP(&follow, "follow", "f", false, "wait for more events")
	flags.BoolVar(&asJSON, "json", false, "print each event as a JSON object")
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, _ []string) error {
		o := client.FeedOptions{Follow: follow}
		if file != "" {
			text, err := os.ReadFile(file) //nolint:gosec // the caller names the file
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			o.Position = strings.TrimSpace(string(text))
			o.Save = func(_ context.Context, position string) error { return statefile.Replace(file, []byte(position+"\n")) }
		}
		for e, err := range c.Feed(ctx, key, o) {
			if ctx.Err() != nil {
				return nil // interrupted
			}
			if err != nil {
				return err
			}
			if err := r.printEvent(&e, asJSON); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *remote) printEvent(e *client.Event, asJSON bool) error {
	kind := strings.TrimPrefix(e.Type, "org.lineproof.")
	if asJSON {
		text, err := json.Marshal(map[string]any{"id": e.ID, "type": e.Type, "time": console.FormatTime(e.Time), "data": e.Data})
		if err != nil {
			return err
		}
		fmt.Fprintln(r.Out, string(text))
		return nil
	}
	var line client.LineChange
	if isLine := strings.HasPrefix(kind, "line.v1.") && json.Unmarshal(e.Data, &line) == nil; !isLine {
		fmt.Fprintln(r.Out, e.ID, console.FormatTime(e.Time), kind, string(e.Data))
		return nil
	}
	until := ""
	if !line.Until.IsZero() {
		until = " until " + console.FormatTime(line.Until)
	}
	fmt.Fprintf(r.Out, "%s %s %s %s %s -> %s%s\n", e.ID, console.FormatTime(e.Time), kind, line.PhoneNumber, line.Previous, line.Status, until)
	return nil
}

func (r *remote) feedAckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ack EVENT...", Short: "Acknowledge notices about past answers", Args: cobra.MinimumNArgs(1),
		Long: `Tells the regulator that you have dealt with events of the type answer.v1.changed: an answer that you received would be
different now. Name them by their ids. It changes nothing else.`,
		Example: "  lineproof api feed ack 1-1048577 1-1048580",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, ids []string) error {
		done, err := c.AcknowledgeNotices(ctx, key, ids...)
		if err != nil {
			return err
		}
		if len(done.Unknown) > 0 {
			r.Note("Your feed has no notice about a past answer under %s.", strings.Join(done.Unknown, ", "))
		}
		return r.Print(*asJSON, done, []string{"ACKNOWLEDGED"}, []string{strconv.Itoa(done.Acknowledged)})
	})
}
