package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/postgrest"
	"tasklens/internal/worker"
)

// dying is the database client of a worker whose process ends just before or just after a call:
// nothing is heard of it afterwards.
type dying struct {
	*postgrest.Session
	at    string
	after bool
	end   context.CancelFunc
	dead  atomic.Bool
}

var errDead = errors.New("the process is gone")

func (d *dying) Call(ctx context.Context, function string, arguments, result any) error {
	if d.dead.Load() {
		return errDead
	}
	if function != d.at {
		return d.Session.Call(ctx, function, arguments, result)
	}
	if d.after {
		if err := d.Session.Call(ctx, function, arguments, result); err != nil {
			return err
		}
	}
	d.dead.Store(true)
	d.end()
	return errDead
}

// Whichever step a worker ends after, another one does the rest.
func TestCrashBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"claim_embedding_jobs", "read_sources", "store_chunks", "finish_embedding_jobs"} {
		for moment, after := range map[string]bool{"before ": false, "after ": true} {
			t.Run(moment+function, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.fill(5)
				stop := b.start(quick(t))
				b.await(0, openJobs)
				stop()
				b.run(`update public.tickets set description = 'The present text' where name = 'Pump 1'`)
				b.run(`delete from public.tickets where name = 'Pump 2'`)
				b.run(`update public.projects set name = 'Pumps and tubes'`)

				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				d := &dying{Session: b.rows, at: function, after: after, end: cancel}
				o := quick(t)
				o.Lease = 300 * time.Millisecond
				worker.New(d, b.indexer, o).Run(ctx)
				if !d.dead.Load() {
					t.Fatalf("%s was never called", function)
				}
				b.start(quick(t))
				b.await(0, openJobs)
				b.await(0, deadJobs)
				b.mustBeCurrent()
			})
		}
	}
}
