package supabase_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tasklens/internal/testbed"
)

// What one session alone cannot show: writers at once. The SQL's other tests are in tests/.

const wordCountsDiffer = `
	with counted as (
		select word, entries, titles from tasklens.word_entries(array(select word from tasklens.word_counts union select word from tasklens.word_count_changes))
		where btrim(word) <> '' and entries <> 0
	), present as (
		select u.lexeme as word, count(*) as entries, count(*) filter (where 'A' = any (u.weights)) as titles
		from public.keyword_entries e, unnest(e.words) u group by u.lexeme
	)
	select count(*) from counted full join present using (word, entries, titles) where counted.word is null or present.word is null`

func TestWordCountsAreExactWhoeverWrites(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.OwnerURL)
	if _, err := owner.Exec(t.Context(), `insert into projects (key, name) values ('P', 'Pumps'); insert into status (name) values ('Done')`); err != nil {
		t.Fatal(err)
	}
	const writers, rounds = 6, 12
	group, ctx := errgroup.WithContext(t.Context())
	for writer := range writers {
		connection := testbed.Connect(t, db.OwnerURL)
		group.Go(func() error { return write(ctx, connection, writer, rounds) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var entries, merged, differing int
	if err := owner.QueryRow(t.Context(), `select count(*), (select count(*) from tasklens.word_counts) from keyword_entries`).Scan(&entries, &merged); err != nil {
		t.Fatal(err)
	}
	// One round adds 40 tickets and removes 10; the project has an entry too.
	if want := writers*rounds*30 + 1; entries != want || merged == 0 {
		t.Fatalf("%d entries, want %d; %d words were added up, want some", entries, want, merged)
	}
	if err := owner.QueryRow(t.Context(), wordCountsDiffer).Scan(&differing); err != nil {
		t.Fatal(err)
	}
	if differing != 0 {
		t.Errorf("%d words are counted wrongly", differing)
	}
}

// write adds, edits and deletes tickets in transactions of its own; every third one is rolled back
// after having been done.
func write(ctx context.Context, connection *pgx.Conn, writer, rounds int) error {
	for round := 0; round < rounds; round++ {
		for _, keep := range []bool{round%3 != 0, true} {
			tx, err := connection.Begin(ctx)
			if err != nil {
				return err
			}
			prefix := fmt.Sprintf("w%d-%d-", writer, round)
			for _, sql := range []string{
				`insert into tickets (key, project_id, status_id, name, description)
					select $1 || i, 1, 1, 'Pump ' || i || ' of line ' || $1, 'common words and w' || md5($1 || i) from generate_series(1, 40) i`,
				`update tickets set name = 'Valve ' || key, description = 'common words, edited' where key like $1 || '_'`,
				`delete from tickets where key like $1 || '1_'`,
			} {
				if _, err := tx.Exec(ctx, sql, prefix); err != nil {
					return fmt.Errorf("writer %d, round %d: %w", writer, round, err)
				}
			}
			if !keep {
				if err := tx.Rollback(ctx); err != nil {
					return err
				}
				continue
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
			break
		}
	}
	return nil
}
