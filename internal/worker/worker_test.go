package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/internal/worker"
)

func TestWritesAreEmbedded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(250)
	b.start(quick(t))
	b.await(0, openJobs)
	// As many texts each as are stored together, and three batches; the worker may claim the project
	// before its tickets exist.
	if got := len(b.model.requests()); got > 10 {
		t.Errorf("%d requests were sent for 251 texts, want at most 10", got)
	}
	b.run(`insert into public.status_changes (ticket_id, note) select ticket_id, 'Sealed it' from public.tickets where name = 'Pump 7'`)
	b.run(`update public.tickets set description = 'Dry' where name = 'Pump 8'`)
	b.await(0, openJobs)
	b.run(`insert into public.projects (key, name) values ('V', 'Valves'); update public.projects set name = 'Pumps and tubes' where key = 'P'`)
	b.run(`update public.tickets set project_id = (select project_id from public.projects where key = 'V') where name like 'Pump 1%'`)
	b.await(0, openJobs)
	b.run(`delete from public.tickets where name like 'Pump 2%'; delete from public.status_changes`)
	b.await(0, openJobs)
	if got, want := b.number(`select count(*) from public.chunks`), b.number(`select count(*) from public.tickets`)+2; got != want {
		t.Errorf("there are %d chunks, want %d", got, want)
	}
	b.mustBeCurrent()
}

// A text that cannot be embedded, on which the provider fails as if it were down, or whose chunks
// no call can store, fails alone in the end, with its error, and can be retried.
func TestFailingTextBecomesDeadAlone(t *testing.T) {
	t.Parallel()
	for reason, failure := range map[string]error{"poison": fmt.Errorf("%w: this one is poison", fault.ErrInput), "reset by peer": errors.New("connection reset by peer"), "in time": nil} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if failure == nil {
				testbed.TimeOut(t, b.database, "public.chunks", "new.text like '%valve 17'")
			}
			var mended atomic.Bool
			b.model.before = func(_ context.Context, _ string, inputs []string) error {
				if !mended.Load() && strings.Contains(strings.Join(inputs, " "), "valve 17") {
					return failure
				}
				return nil
			}
			b.fill(30)
			o := quick(t)
			o.Attempts = 6
			b.start(o)
			b.await(1, deadJobs)
			b.await(0, openJobs)
			if got := b.number(`select count(*) from public.list_dead_embedding_jobs() where ticket_key = 'P-17' and attempts = 6 and last_error like '%' || $1 || '%'`, reason); got != 1 {
				t.Errorf("the dead job lacks its ticket, attempts or error")
			}
			if got := b.number(`select count(*) from public.chunks`); got != 30 {
				t.Errorf("there are %d chunks, want 30: those of all sources but one", got)
			}
			if failure == nil {
				return
			}
			mended.Store(true)
			if got := b.number(`select public.replay_embedding_jobs()`); got != 1 {
				t.Errorf("%d jobs are replayed, want 1", got)
			}
			b.await(0, deadJobs)
			b.await(0, openJobs)
			b.mustBeCurrent()
		})
	}
}

// hold returns a model that waits. asked signals a request, goOn releases all requests.
func (b *bench) hold() (asked <-chan struct{}, goOn func()) {
	come, going := make(chan struct{}, 100), make(chan struct{})
	b.model.before = func(ctx context.Context, _ string, _ []string) error {
		come <- struct{}{}
		select {
		case <-going:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return come, sync.OnceFunc(func() { close(going) })
}

func TestStopReleasesJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asked, _ := b.hold()
	b.fill(150)
	b.run(`update tasklens.embedding_jobs set attempts = source_id % 2`) // the worker splits a batch into many groups
	stop := b.start(quick(t))
	<-asked
	stop()
	if got := b.number(openJobs + ` and lease_id is null and attempts = source_id % 2 and due_at <= clock_timestamp()`); got != 151 {
		t.Errorf("%d of 151 jobs are released without using up an attempt", got)
	}
}

// interposed runs a function just before a call.
type interposed struct {
	*postgrest.Session
	before func(function string)
}

func (i interposed) Call(ctx context.Context, function string, arguments, result any) error {
	i.before(function)
	return i.Session.Call(ctx, function, arguments, result)
}

// An edit at any moment of a job waits for nobody and is not lost.
func TestEditBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"read_sources", "store_chunks", "finish_embedding_jobs"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.fill(3)
			edit := sync.OnceFunc(func() {
				b.run(`set lock_timeout = '5s'`)
				b.run(`delete from public.tickets where name = 'Pump 2'`)
				b.run(`update public.tickets set description = 'The present text'`)
				b.run(`update public.projects set name = 'Pumps and tubes'`)
			})
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() {
				worker.New(interposed{b.rows, func(called string) {
					if called == function {
						edit()
					}
				}}, b.indexer, quick(t)).Run(ctx)
			})
			defer running.Wait()
			defer cancel()
			reader := testbed.Connect(t, b.database.OwnerURL)
			b.awaitOn(reader, 2, `select count(*) from public.chunks where text like '%The present text'`)
			b.awaitOn(reader, 0, openJobs)
			cancel()
			running.Wait()
			b.mustBeCurrent()
		})
	}
}

// A ticket with an uncommitted edit is left until the commit, and uses up no attempts.
func TestTicketWithAnUncommittedEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asked, goOn := b.hold()
	b.fill(3)
	o := quick(t)
	o.Attempts = 1
	b.start(o)
	<-asked
	writer := testbed.Connect(t, b.database.OwnerURL)
	tx, err := writer.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), `update public.tickets set description = 'Not yet' where name = 'Pump 1'`)
	}
	if err != nil {
		t.Fatal(err)
	}
	goOn()
	b.await(3, `select count(*) from public.chunks`)
	b.await(1, `select count(*) from tasklens.embedding_jobs where lease_id is null and due_at > requested_at`)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.await(0, openJobs)
	b.await(0, deadJobs)
	b.mustBeCurrent()
}

// Two workers share the queue and do nothing twice.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asked, goOn := b.hold()
	o := quick(t)
	o.Batch, o.Concurrency = 10, 2
	b.start(o)
	b.start(o)
	b.fill(80)
	for range 4 {
		<-asked // both have claimed all that they can
	}
	goOn()
	b.await(0, openJobs)
	b.mustHaveEmbeddedOnce()
	b.mustBeCurrent()
}

// A lease is renewed while the work lasts.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asked, goOn := b.hold()
	b.fill(1)
	o := quick(t)
	o.Lease = 3 * time.Second
	b.start(o)
	<-asked
	var first time.Time
	if err := b.tracker.QueryRow(t.Context(), `select min(due_at) from tasklens.embedding_jobs`).Scan(&first); err != nil {
		t.Fatal(err)
	}
	b.await(2, openJobs+` and due_at > $1 and attempts = 1`, first)
	goOn()
	b.await(0, openJobs)
}
