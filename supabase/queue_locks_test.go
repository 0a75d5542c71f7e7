package supabase_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// session is a connection whose statements fail the test where they fail, or wait for a lock.
type session struct {
	t *testing.T
	*pgx.Conn
}

func newSession(t *testing.T, db *testbed.DB) session {
	t.Helper()
	s := session{t, testbed.Connect(t, db.OwnerURL)}
	s.do(`set lock_timeout = '5s'`)
	return s
}

func (s session) do(sql string) {
	s.t.Helper()
	if _, err := s.Exec(s.t.Context(), sql); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// is compares the text that a query gives, "" for null.
func (s session) is(sql, want string) {
	s.t.Helper()
	var got *string
	if err := s.QueryRow(s.t.Context(), `select (`+sql+`)::text`).Scan(&got); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	if got == nil {
		got = new(string)
	}
	if *got != want {
		s.t.Errorf("%s: is %q, want %q", sql, *got, want)
	}
}

const (
	lease  = `'00000000-0000-4000-8000-000000000001'::uuid`
	leased = lease + `, array(select embedding_job_id from tasklens.embedding_jobs)`
	// The two tickets as they are read, and as they are given to store_chunks.
	given = `with sources as materialized (select r.* from read_sources(array(select source_id from tasklens.sources where ticket_id is not null order by 1)) r),
		given as (select jsonb_agg(jsonb_build_object('source_id', source_id, 'source_hash', source_hash, 'truncated', false) order by source_id) as sources from sources) `
	unitVector = `('[1' || repeat(',0', 1535) || ']')::extensions.vector`
)

// newQueue is a tracker with two tickets and two documents, each with a job that a worker holds,
// tried twice.
func newQueue(t *testing.T) (db *testbed.DB, editor, worker session) {
	t.Helper()
	db = testbed.Database(t)
	editor, worker = newSession(t, db), newSession(t, db)
	editor.do(`insert into status (status_id, name) values (1, 'To Do')`)
	editor.do(`insert into projects (project_id, key, name) values (1, 'P', 'Pumps')`)
	editor.do(`insert into tickets (ticket_id, project_id, status_id, name) values (1, 1, 1, 'Pump'), (2, 1, 1, 'Valve')`)
	editor.do(`insert into documents (id, title) select ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'Manual ' || i from generate_series(1, 2) i`)
	editor.do(`delete from tasklens.embedding_jobs where source_id in (select source_id from tasklens.sources where project_id is not null)`)
	editor.do(`update tasklens.embedding_jobs set lease_id = ` + lease + `, attempts = 2, due_at = clock_timestamp() + interval '1 minute'`)
	return db, editor, worker
}

// Jobs of a ticket and a document that an open transaction deletes are passed over: the others end,
// and these come back when their lease runs out.
func TestJobsLeaveTheirWorkerPastOpenTransactions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ call, left string }{
		"finish":  {`finish_embedding_jobs(` + leased + `)`, `2`},
		"fail":    {`fail_embedding_jobs(` + leased + `, 'No.')`, `4`},
		"release": {`release_embedding_jobs(` + leased + `)`, `4`},
		"extend":  {`extend_embedding_leases(array[` + lease + `])`, `4`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, editor, worker := newQueue(t)
			editor.do(`begin`)
			editor.do(`delete from tickets where ticket_id = 1`)
			editor.do(`delete from documents where title = 'Manual 1'`)
			worker.is(`select `+test.call, `2`)
			editor.do(`rollback`)
			worker.is(`select count(*) from tasklens.embedding_jobs`, test.left)
			worker.do(`update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 second'`)
			worker.is(`select jsonb_array_length(jobs) from claim_embedding_jobs()`, test.left)
		})
	}
}

func TestReplayingPassesOpenTransactions(t *testing.T) {
	t.Parallel()
	_, editor, worker := newQueue(t)
	worker.do(`select fail_embedding_jobs(` + leased + `, 'No.', 2)`)
	worker.is(`select count(*) from tasklens.embedding_jobs where dead_at is not null`, `4`)
	worker.is(`select count(*) from documents where embedding_status = 'failed'`, `2`)
	editor.do(`begin`)
	editor.do(`delete from tickets where ticket_id = 1`)
	editor.do(`update documents set archived = true where title = 'Manual 1'`)
	worker.is(`select replay_embedding_jobs()`, `3`)
	worker.is(`select string_agg(embedding_status, ' ' order by title) from documents`, `failed pending`)
	editor.do(`rollback`)
	worker.is(`select replay_embedding_jobs()`, `1`)
	worker.is(`select jsonb_array_length(jobs) from claim_embedding_jobs()`, `4`)
	worker.is(`select string_agg(embedding_status, ' ' order by title) from documents`, `pending pending`)
}

// A document that somebody edits is given up when they have done, together with its job: it never
// says that it waits while nobody will try it.
func TestAHeldDocumentIsGivenUpLater(t *testing.T) {
	t.Parallel()
	const given = `select string_agg(embedding_status || ' ' || (dead_at is not null), ', ' order by title)
		from documents d join tasklens.sources s on s.document_id = d.id join tasklens.embedding_jobs j using (source_id)`
	for name, giveUp := range map[string]string{
		"by a worker that failed": `select fail_embedding_jobs(` + leased + `, 'No.', 2)`,
		"by another worker":       `select claim_embedding_jobs(attempt_limit => 2)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, editor, worker := newQueue(t)
			if name == "by another worker" {
				worker.do(`update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 second'`)
			}
			editor.do(`begin`)
			editor.do(`update documents set archived = true where title = 'Manual 1'`)
			worker.do(giveUp)
			worker.is(given, `pending false, failed true`)
			worker.is(`select failed || ' ' || dead from embedding_status('m')`, `1 3`)
			editor.do(`commit`)
			worker.do(`update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 second' where dead_at is null`)
			worker.is(`select jsonb_array_length(jobs) from claim_embedding_jobs(attempt_limit => 2)`, `0`)
			worker.is(given, `failed true, failed true`)
		})
	}
}

// store stores the two tickets.
const store = given + `select string_agg(s.stored::text, ' ' order by s.source_id) from given g, store_chunks(g.sources, (
	select jsonb_agg(c) from sources r cross join lateral (
		select jsonb_build_object('source_id', r.source_id, 'kind', t ->> 'kind', 'status_change_id', t -> 'status_change_id', 'position', place,
			'text', t ->> 'text', 'tokens', 1, 'input_hash', 'new', 'model', 'm', 'embedding', 1) as c
		from jsonb_array_elements(r.texts) with ordinality as x(t, place)) y), array[` + unitVector + `]) s`

// An open transaction that edits or deletes what is stored is not waited for: its text is read
// again.
func TestStoringPassesOpenTransactions(t *testing.T) {
	t.Parallel()
	for edit, stored := range map[string]string{
		`update tickets set name = 'Pump 2' where ticket_id = 1`: `false true`,
		`delete from tickets where ticket_id = 1`:                `false true`,
		`update projects set name = 'Valves'`:                    `false false`,
		`update projects set description = 'Valves'`:             `false false`,
		`update comments set body = 'd'`:                         `true true`,
	} {
		t.Run(edit, func(t *testing.T) {
			t.Parallel()
			_, editor, worker := newQueue(t)
			editor.do(`insert into comments (ticket_id, body) values (1, 'c')`)
			editor.do(`begin`)
			editor.do(edit)
			worker.is(store, stored)
			editor.do(`commit`)
		})
	}
}

// An open transaction that deletes a note holds the note and its chunk, and not the ticket.
func TestStoringPassesADeletedNote(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{true, false} {
		t.Run(fmt.Sprintf("stored before: %t", stored), func(t *testing.T) {
			t.Parallel()
			_, editor, worker := newQueue(t)
			editor.do(`insert into status_changes (status_change_id, ticket_id, note) values (7, 1, 'n')`)
			if stored {
				worker.is(store, `true true`)
				worker.do(`update chunks set input_hash = 'old'`)
			}
			editor.do(`begin`)
			editor.do(`delete from status_changes`)
			worker.do(`begin`)
			worker.is(store, `false true`)
			// The other direction: what the worker holds now holds nobody up who edits the same
			// ticket.
			editor.do(`update tickets set name = 'Pump 2' where ticket_id = 1`)
			worker.do(`commit`)
			editor.do(`commit`)
		})
	}
}

// While the vectors of a long text are written, nobody waits: neither editors nor others who store.
// At the end, what was edited meanwhile is not stored.
func TestNobodyWaitsForALongStore(t *testing.T) {
	t.Parallel()
	db, editor, worker := newQueue(t)
	const store = given + `select string_agg(s.stored::text, ' ' order by s.source_id) from given g, store_chunks(g.sources, (
			select jsonb_agg(jsonb_build_object('source_id', r.source_id, 'kind', 'ticket', 'position', i, 'text', 't', 'tokens', 1, 'input_hash', 'h', 'model', 'm', 'embedding', 1))
			from sources r, generate_series(0, 4) i), array[` + unitVector + `]) s`
	editor.do(`create function tasklens.be_slow() returns trigger language plpgsql as 'begin perform pg_sleep(1); return new; end'`)
	editor.do(`create trigger be_slow before insert on chunks for each row execute function tasklens.be_slow()`)
	other := newSession(t, db)
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		worker.is(store, `false true`)
	}()
	var id string
	for id == "" {
		// The session that sleeps shows that the store has begun.
		if err := other.QueryRow(t.Context(), `select coalesce(max(pid)::text, '') from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`).Scan(&id); err != nil {
			t.Fatal(err)
		}
	}
	editor.do(`update tickets set name = 'Pump 2' where ticket_id = 1`)
	editor.do(`update tickets set assignee = 'Ada' where ticket_id = 2`)
	editor.do(`insert into status_changes (ticket_id, note) values (1, 'n')`)
	editor.do(`insert into comments (ticket_id, body) values (2, 'c')`)
	other.is(store, `false false`)
	other.is(`select state from pg_stat_activity where pid = `+id, `active`) // the store goes on
	<-stored
	worker.is(`select string_agg(distinct ticket_id::text, ' ') || ' ' || count(*) from chunks`, `2 5`)
	worker.is(`select count(*) from tasklens.embedding_jobs join tasklens.sources using (source_id) where ticket_id = 1 and lease_id is null`, `1`)
}

// Editors wait for none of the jobs that workers hold in open transactions.
func TestEditorsPassJobsThatWorkersHold(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"claim":   `select claim_embedding_jobs()`,
		"finish":  `select finish_embedding_jobs(` + leased + `)`,
		"fail":    `select fail_embedding_jobs(` + leased + `, 'No.')`,
		"release": `select release_embedding_jobs(` + leased + `)`,
		"extend":  `select extend_embedding_leases(array[` + lease + `])`,
		"replay":  `select replay_embedding_jobs()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, editor, worker := newQueue(t)
			switch name {
			case "claim":
				worker.do(`update tasklens.embedding_jobs set lease_id = null`)
			case "replay":
				worker.do(`update tasklens.embedding_jobs set lease_id = null, dead_at = now()`)
			}
			worker.do(`begin`)
			worker.do(call)
			editor.do(`update tickets set name = 'Pump 2' where ticket_id = 1`)
			editor.do(`delete from tickets where ticket_id = 2`)
			editor.do(`update documents set content = 'new' where title = 'Manual 1'`)
			editor.do(`delete from documents where title = 'Manual 2'`)
			worker.do(`commit`)
		})
	}
}

// What an open transaction holds of a retired set is removed when that has ended; those who store
// wait for neither.
func TestEmptyingASetPassesOpenTransactions(t *testing.T) {
	t.Parallel()
	db, editor, worker := newQueue(t)
	worker.do(`insert into chunks (embedding_set, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
		select 2, 1, t.ticket_id, 'ticket', 0, 't', 1, 'h', 'm', ` + unitVector + ` from tickets t`)
	worker.do(`update tasklens.embedding_sets set other_state = 'retired'`)
	const startOver = `00000000-0000-0000-0000-000000000000`
	clearSet := func(want string) {
		t.Helper()
		worker.is(`select case when clear_retired_set((select max(chunk_id::text)::uuid from chunks)) = '`+startOver+`' then 'again' else 'done' end`, want)
	}
	editor.do(`begin`)
	editor.do(`delete from tickets where ticket_id = 1`)
	worker.do(`begin`)
	worker.do(`select clear_retired_set()`)
	newSession(t, db).is(`select string_agg(stored::text, ' ') from store_chunks(
		(select jsonb_agg(jsonb_build_object('source_id', source_id, 'source_hash', 'h', 'truncated', false)) from tasklens.sources where ticket_id = 1), '[]', '{}')`, `false`)
	worker.do(`commit`)
	worker.is(`select count(*) from chunks`, `1`)
	clearSet(`again`)
	editor.do(`rollback`)
	worker.is(`select other_state from tasklens.embedding_sets`, `retired`)
	worker.do(`select clear_retired_set('` + startOver + `')`)
	worker.is(`select count(*) from chunks`, `0`)
	clearSet(`done`)
	worker.is(`select other_state from tasklens.embedding_sets`, `unused`)
}
