package message_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Messages older than 90 days are deleted, texts that are too long are cut, and a list
// goes from the newest to the oldest without a gap.
func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	ctx, pool, now := t.Context(), pgtest.New(t), time.Now().UTC().Truncate(time.Microsecond)
	account := uuid.New()
	if _, err := pool.Exec(ctx, `INSERT INTO account (id, kind, name, email, email_key, role, created_at) VALUES ($1, 'staff', 'Ada', 'ada@regulator.example', 'ada@regulator.example', 'auditor', now())`, account); err != nil {
		t.Fatal(err)
	}
	err := pg.InTx(ctx, pool, func(tx pg.Tx) error {
		for _, at := range []time.Time{now.AddDate(0, 0, -91), now.AddDate(0, 0, -89), now} {
			if _, err := message.Add(ctx, tx, "guard_found", message.Content{About: strings.Repeat("ü", 400), Detail: strings.Repeat("x", 600), Path: "/portal/desk/limits"}, at, account); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := message.DeleteOld(ctx, pool, now); err != nil || n != 1 {
		t.Errorf("%d were deleted, %v; want 1", n, err)
	}
	first, err := message.List(ctx, pool, account, uuid.Nil, 1)
	if err != nil || len(first) != 1 || !first[0].CreatedAt.Equal(now) || len([]rune(first[0].About)) != 300 || !strings.HasSuffix(first[0].Detail, "…") {
		t.Fatalf("the newest is %+v, %v", first, err)
	}
	rest, err := message.List(ctx, pool, account, first[0].ID, 10)
	if err != nil || len(rest) != 1 {
		t.Errorf("the rest is %+v, %v; want one", rest, err)
	}
}
