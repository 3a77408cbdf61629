package jobs

import (
	"context"
	"log/slog"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
)

// forgetExpired deletes expired credentials, idempotency responses, login records, searches of
// who asked about a number, messages, values of rejected rows, and changes of lines that were
// passed on.
func (j *Jobs) forgetExpired(ctx context.Context) error {
	credentials, err := j.Access.DeleteExpired(ctx)
	if err != nil {
		return err
	}
	answers, err := j.Answers.DeleteExpired(ctx)
	if err != nil {
		return err
	}
	logins, err := j.People.DeleteExpired(ctx)
	if err != nil {
		return err
	}
	searches, err := whoasked.DeleteExpired(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	changes, err := outbox.DeleteOld(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	notices, err := impact.DeleteOld(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	messages, err := message.DeleteOld(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	values, err := filerows.DeleteOld(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	if credentials+answers+logins+searches+changes+notices+messages+values > 0 {
		j.Log.LogAttrs(ctx, slog.LevelInfo, "deleted expired rows",
			slog.Int64("credentials", credentials), slog.Int64("answers", answers),
			slog.Int64("logins", logins), slog.Int64("searches", searches), slog.Int64("changes", changes), slog.Int64("notices", notices), slog.Int64("messages", messages), slog.Int64("file_values", values))
	}
	return nil
}
