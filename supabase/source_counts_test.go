package supabase_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tasklens/internal/testbed"
)

// countsDiffer tells how the status differs from what one snapshot holds, "" where it does not.
const countsDiffer = `
	select case when (s.chunks, s.sources_without_chunks, s.pending, s.running) is distinct from (t.chunks, t.missing, t.pending, t.running) then format('told %s, there are %s', s, t) else '' end
	from embedding_status('m') s, (
		select (select count(*) from chunks where embedding_set = 1) + (select count(*) from document_chunks) as chunks,
			(select count(*) from private.missing_sources('m')) as missing,
			(select count(*) from (select from private.embedding_jobs group by project_id, ticket_id, document_id having bool_and(lease_id is null)) j) as pending,
			(select count(*) from (select from private.embedding_jobs group by project_id, ticket_id, document_id having bool_or(lease_id is not null)) j) as running) t`

// Writers that touch the same sources, and roll back in between, leave a status that is exact in
// every snapshot.
func TestSourceCountsAreExactWhoeverWrites(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.OwnerURL)
	for _, sql := range []string{
		`insert into status (name) values ('Done'); insert into projects (key, name) values ('P', 'Pumps')`,
		`insert into tickets (project_id, status_id, name) select 1, 1, 'Pump' from generate_series(1, 60)`,
	} {
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	const writers, rounds = 4, 12
	group, ctx := errgroup.WithContext(t.Context())
	writing, done := context.WithCancel(t.Context())
	for writer := range writers {
		connection := testbed.Connect(t, db.OwnerURL)
		group.Go(func() error { return writeSources(ctx, connection, writer, rounds) })
	}
	var reading errgroup.Group
	reader := testbed.Connect(t, db.OwnerURL)
	reading.Go(func() error {
		for looks := 0; looks < 20 || writing.Err() == nil; looks++ {
			var difference string
			if err := reader.QueryRow(t.Context(), countsDiffer).Scan(&difference); err != nil {
				return err
			}
			if difference != "" {
				return errors.New(difference)
			}
		}
		return nil
	})
	err := group.Wait()
	done()
	if err := errors.Join(err, reading.Wait()); err != nil {
		t.Fatal(err)
	}
	var difference string
	var chunks, counted int
	if err := owner.QueryRow(t.Context(), `select (`+countsDiffer+`), (select count(*) from chunks), (select count(*) from private.source_states)`).Scan(&difference, &chunks, &counted); err != nil {
		t.Fatal(err)
	}
	if difference != "" || chunks == 0 || counted == 0 {
		t.Errorf("in the end: %d chunks, %d states; %s", chunks, counted, difference)
	}
}

// writeSources gives tickets chunks and takes them away, one of two chunks of a ticket beside
// others who take the other one. Each step is done, undone and done again.
func writeSources(ctx context.Context, connection *pgx.Conn, writer, rounds int) error {
	for round := range rounds {
		for _, step := range []string{
			`insert into chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
				select 1, i, 'ticket', $1::integer, 't', 1, 'h', case when i % 7 = 0 then 'other' else 'm' end, ` + unitVector + ` from generate_series(1 + $2::integer % 5, 60, 5) i
				where not exists (select from chunks c where c.ticket_id = i and c.position = $1)`,
			`update status_changes set note = case when note ~ '\S' then ' ' else 'n' end where status_change_id % 4 = $1::integer and $2::integer >= 0`,
			`insert into status_changes (ticket_id, note) select i, repeat(' ', $2::integer % 2) || 'n' from generate_series(1 + $1::integer, 60, 4) i`,
			`insert into tickets (project_id, status_id, name) select 1, 1, case when i % 2 = 0 then ' ' else 'w' || $1::integer || '-' || $2::integer end from generate_series(1, 20) i`,
			`delete from tickets where name like 'w' || $1::integer || '-%' and $2::integer % 3 = 0`,
			`select claim_embedding_jobs(10, 600) where $1::integer + $2::integer >= 0`,
			`select finish_embedding_jobs(lease_id, array[embedding_job_id]) from private.embedding_jobs where lease_id is not null and embedding_job_id % 4 = $1::integer and $2::integer % 2 = 0`,
			`select private.merge_source_marks() where $1::integer = $2::integer % 4`,
			`delete from chunks where position = $1::integer and $2::integer % 2 = 0`,
		} {
			for _, undone := range []bool{true, false} {
				tx, err := connection.Begin(ctx)
				if err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, step, writer, round); err != nil {
					return fmt.Errorf("writer %d, round %d: %s: %w", writer, round, step, err)
				}
				if undone {
					err = tx.Rollback(ctx)
				} else {
					err = tx.Commit(ctx)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// The status reads as much of a large tracker as of a small one.
func TestTheStatusDoesNotGrowWithTheTracker(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := newSession(t, db)
	owner.do(`create or replace function private.refresh_ticket_entries(ticket_ids bigint[]) returns void language sql as ''; drop index chunks_embedding_idx`)
	owner.do(`insert into status (name) values ('Done'); insert into projects (key, name) values ('P', 'Pumps')`)
	grow := func(from, to int) (blocks int) {
		t.Helper()
		owner.do(fmt.Sprintf(`insert into tickets (ticket_id, key, project_id, status_id, name) select i, 'P-' || i, 1, 1, 'Pump' from generate_series(%d, %d) i`, from, to))
		owner.do(fmt.Sprintf(`insert into chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
			select 1, i, 'ticket', 0, 't', 1, 'h', 'm', `+unitVector+` from generate_series(%d, %d) i`, from, to))
		owner.do(fmt.Sprintf(`insert into documents (title, content) select 'Manual', '' from generate_series(%d, %d)`, from, to))
		owner.do(`update private.embedding_jobs set lease_id = ` + lease + `, due_at = clock_timestamp() + interval '1 hour' where ticket_id <= 50`)
		owner.is(countsDiffer, ``)
		for _, table := range []string{"source_marks", "source_totals", "source_states", "embedding_jobs"} {
			owner.do(`vacuum analyze private.` + table)
		}
		for range 3 { // the first looks fill the caches of the catalogue
			var plan []struct {
				Plan struct {
					Hit  int `json:"Shared Hit Blocks"`
					Read int `json:"Shared Read Blocks"`
				}
			}
			var text []byte
			if err := owner.QueryRow(t.Context(), `explain (analyze, buffers, format json) select * from embedding_status('m')`).Scan(&text); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &plan); err != nil {
				t.Fatal(err)
			}
			blocks = plan[0].Plan.Hit + plan[0].Plan.Read
		}
		return blocks
	}
	small, large := grow(1, 1500), grow(1501, 15000)
	t.Logf("%d blocks of a small tracker, %d of one that is ten times larger", small, large)
	if small == 0 || large > small+small/2 {
		t.Errorf("the status reads %d blocks of a tracker that is ten times larger than one of which it reads %d", large, small)
	}
}

// Rows that come while triggers are off, as a restore loads them, are counted by recount_sources;
// and those that bring the counts along, as a whole dump does, need none.
func TestSourceCountsAfterARestore(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := newSession(t, db)
	owner.do(`insert into status (name) values ('Done'); insert into projects (key, name) values ('P', 'Pumps')`)
	owner.do(`insert into tickets (project_id, status_id, name) select 1, 1, 'Pump' from generate_series(1, 5)`)
	owner.do(`insert into chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
		select 1, i, 'ticket', 0, 't', 1, 'h', 'm', ` + unitVector + ` from generate_series(1, 3) i`)
	owner.do(`select private.merge_source_marks()`)
	restore := session{t, testbed.Connect(t, db.SuperuserURL)}
	restore.do(`set session_replication_role = replica`)
	restore.do(`delete from chunks where ticket_id = 1`)
	restore.do(`insert into tickets (key, project_id, status_id, name) values ('P-99', 1, 1, 'Pump')`)
	owner.is(`select chunks || ' ' || sources_without_chunks from embedding_status('m')`, `3 3`)
	owner.do(`select private.recount_sources()`)
	owner.is(`select chunks || ' ' || sources_without_chunks from embedding_status('m')`, `2 5`)
	owner.is(countsDiffer, ``)

	// A whole dump brings the counts along.
	for _, table := range []string{"public.chunks", "public.tickets", "private.source_states", "private.source_totals"} {
		restore.do(`create temporary table dumped as table ` + table + `; delete from ` + table)
		restore.do(`insert into ` + table + ` select * from dumped; drop table dumped`)
	}
	owner.is(countsDiffer, ``)
}
