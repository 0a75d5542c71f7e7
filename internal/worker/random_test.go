package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"tasklens/internal/index"
	"tasklens/internal/testbed"
	"tasklens/internal/tokenizer"
	"tasklens/internal/wait"
)

// lasting is the variable with the duration of the randomised test, by default a minute, or ten
// seconds with -short.
const lasting = "TASKLENS_RANDOM_TEST"

// Editors edit, delete, move, rename and import, with long transactions; workers are killed,
// stopped for longer than their leases, and ended; the provider fails, limits and hangs. At rest
// the chunks must equal a fresh embedding of everything, and no editor may have failed or been a
// deadlock's victim.
func TestChunksAreCurrentAfterRandomFailures(t *testing.T) {
	t.Parallel()
	duration := time.Minute
	if testing.Short() {
		duration = 10 * time.Second
	}
	if set := os.Getenv(lasting); set != "" {
		var err error
		if duration, err = time.ParseDuration(set); err != nil {
			t.Fatalf("%s: %v", lasting, err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	b := newBench(t)
	b.fill(40)
	b.run(`insert into public.projects (key, name) select 'Q' || i, 'Project ' || i from generate_series(1, 3) i`)

	var edits, kills, calls atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for n := range 3 {
		group.Go(func() error { return b.torment(ctx, rand.New(rand.NewPCG(seed, uint64(n))), &kills) })
	}
	for n := range 3 {
		e := editor{connection: testbed.Connect(t, b.database.OwnerURL), random: rand.New(rand.NewPCG(seed, 100+uint64(n)))}
		group.Go(func() error { return e.work(ctx, &edits) })
	}
	group.Go(func() error { return b.generate(ctx, rand.New(rand.NewPCG(seed, 200)), &calls) })
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d edits, %d signals to workers, %d calls to generate in %v", edits.Load(), kills.Load(), calls.Load(), duration)
	if edits.Load() < 20 || kills.Load() < 3 || calls.Load() < 3 {
		t.Error("too few edits, signals or calls for a meaningful test")
	}

	b.start(quick(t))
	for range 2 { // open jobs may become dead, and are replayed only then
		b.run(`update tasklens.embedding_jobs set due_at = clock_timestamp() where lease_id is null and dead_at is null`)
		b.await(0, openJobs)
		b.run(`select public.replay_embedding_jobs()`)
		b.await(0, openJobs)
	}
	b.await(0, deadJobs)
	b.mustBeCurrent()
}

// torment runs a worker process and stops, continues and kills it repeatedly.
func (b *bench) torment(ctx context.Context, random *rand.Rand, signals *atomic.Int64) error {
	for ctx.Err() == nil {
		p, err := b.spawn()
		if err != nil {
			return err
		}
		pause(ctx, random, 2500)
		switch random.IntN(4) {
		case 0:
			err = p.end(syscall.SIGTERM)
		case 1: // it continues after others have taken over its jobs
			err = p.command.Process.Signal(syscall.SIGSTOP)
			pause(ctx, random, 3000)
			err = errors.Join(err, p.command.Process.Signal(syscall.SIGCONT))
			pause(ctx, random, 1000)
			err = errors.Join(err, p.end(syscall.SIGKILL))
		default:
			err = p.end(syscall.SIGKILL)
		}
		if err != nil {
			return fmt.Errorf("signal a worker: %w", err)
		}
		signals.Add(1)
	}
	return nil
}

// generate calls the API's embedding of a ticket that may not exist.
func (b *bench) generate(ctx context.Context, random *rand.Rand, calls *atomic.Int64) error {
	indexer := index.New(&model{before: flaky(random.Uint64())}, tokenizer.Load())
	for ctx.Err() == nil {
		ticket := 1 + random.Int64N(60)
		bounded, cancel := context.WithTimeout(ctx, time.Second)
		// It may fail in many ways; only the state afterwards counts.
		_, _ = indexer.Index(bounded, b.rows, index.Source{ProjectID: 1 + random.Int64N(4), TicketID: &ticket}, random.IntN(3) == 0)
		cancel()
		calls.Add(1)
		pause(ctx, random, 100)
	}
	return nil
}

func pause(ctx context.Context, random *rand.Rand, atMost int) {
	_ = wait.For(ctx, time.Duration(random.IntN(atMost))*time.Millisecond)
}

// editor is a client of the tracker.
type editor struct {
	connection *pgx.Conn
	random     *rand.Rand
}

func (e editor) work(ctx context.Context, edits *atomic.Int64) error {
	// Longer than the longest transaction: only a writer blocked by a worker would wait this long.
	if _, err := e.connection.Exec(ctx, `set lock_timeout = '15s'`); err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := e.transaction(context.WithoutCancel(ctx))
		var failure *pgconn.PgError
		// Errors that repeatable read allows; and a note on a ticket that another editor has just
		// deleted.
		if errors.As(err, &failure) && (failure.Code == "40001" || failure.Code == "23503") {
			continue
		}
		if err != nil {
			return fmt.Errorf("edit: %w", err)
		}
		edits.Add(1)
		pause(ctx, e.random, 60)
	}
	return nil
}

// transaction edits one ticket or project in one or several statements, and may be slow or roll
// back.
func (e editor) transaction(ctx context.Context) error {
	options := pgx.TxOptions{}
	if e.random.IntN(10) == 0 {
		options.IsoLevel = pgx.RepeatableRead
	}
	tx, err := e.connection.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // no effect after a commit
	text := fmt.Sprintf("Words %d", e.random.Uint32())
	for _, statement := range e.statements() {
		if _, err := tx.Exec(ctx, statement.sql, append([]any{text}, statement.arguments...)...); err != nil {
			return fmt.Errorf("%s: %w", statement.sql, err)
		}
		if e.random.IntN(8) == 0 {
			pause(ctx, e.random, 1200)
		}
	}
	if e.random.IntN(10) == 0 {
		return tx.Rollback(ctx)
	}
	return tx.Commit(ctx)
}

type statement struct {
	sql       string
	arguments []any
}

func (e editor) statements() []statement {
	// A ticket that may not exist, and one of its notes.
	const one = ` (select ticket_id from public.tickets order by ticket_id offset $2 limit 1) `
	ticket := []any{e.random.IntN(60)}
	describe := statement{`update public.tickets set description = $1 where ticket_id =` + one, ticket}
	note := statement{`insert into public.status_changes (ticket_id, note) select ticket_id, $1 from public.tickets where ticket_id =` + one, ticket}
	switch e.random.IntN(19) {
	case 0:
		return []statement{{`insert into public.tickets (project_id, status_id, name) select project_id, 1, $1 from public.projects order by random() limit 1`, nil}}
	case 1: // queued behind others, because of their number
		return []statement{{`insert into public.tickets (project_id, status_id, name)
			select project_id, 1, $1 || i from generate_series(1, 110) i, (select project_id from public.projects order by random() limit 1) p`, nil},
			{`delete from public.tickets where name like $1 || '1__'`, nil}}
	case 2:
		return []statement{{`delete from public.tickets where $1 <> '' and ticket_id =` + one, ticket}}
	case 3: // deletes, to make room for new ones
		return []statement{{`delete from public.tickets where $1 <> '' and ticket_id in (select ticket_id from public.tickets order by ticket_id desc limit greatest(0, (select count(*) from public.tickets) - 80) for update skip locked)`, nil}}
	case 4, 5:
		return []statement{{`update public.tickets set name = $1, project_id = (select project_id from public.projects order by random() limit 1) where ticket_id =` + one, ticket}}
	case 6:
		return []statement{{`update public.projects set name = $1 where project_id = $2`, []any{1 + e.random.IntN(4)}}}
	case 7:
		return []statement{{`update public.projects set description = $1 where project_id = $2`, []any{1 + e.random.IntN(4)}}}
	case 8:
		return []statement{note}
	case 9:
		return []statement{{`update public.status_changes set note = $1 where status_change_id = (select status_change_id from public.status_changes where ticket_id =` + one + `limit 1)`, ticket}}
	case 10:
		return []statement{{`delete from public.status_changes where $1 <> '' and ticket_id =` + one, ticket}}
	case 11: // an import that ends before it has embedded its rows
		return []statement{{`select from public.upsert_tickets(jsonb_build_array(jsonb_build_object('key', 'P-' || $2::int, 'project_key', 'P', 'status', 'To Do', 'name', $1::text)))`,
			[]any{1 + e.random.IntN(30)}}}
	case 12, 13:
		return []statement{{`insert into public.comments (ticket_id, author, body) select ticket_id, 'Ada', $1 from public.tickets where ticket_id =` + one, ticket}}
	case 14:
		return []statement{{`update public.comments set author = $1, body = case when random() < 0.3 then ' ' else $1 end
			where comment_id = (select comment_id from public.comments where ticket_id =` + one + `limit 1)`, ticket}}
	case 15:
		return []statement{{`update public.comments set body = $1, ticket_id = (select ticket_id from public.tickets order by random() limit 1)
			where comment_id = (select comment_id from public.comments where ticket_id =` + one + `limit 1)`, ticket}}
	case 16:
		return []statement{{`delete from public.comments where $1 <> '' and ticket_id =` + one, ticket}}
	default:
		return []statement{describe, note, describe}
	}
}
