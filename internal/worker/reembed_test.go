package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/chunk"
	"tasklens/internal/reembed"
)

func (b *bench) mustNotFinish() {
	b.t.Helper()
	if b.number(`select public.finish_reembed()::integer`) > 0 {
		b.t.Fatal("the new set serves")
	}
}

// A source that the new model rejects keeps the old set in use; abandoned, the new set leaves no
// trace.
func TestRejectedSourceKeepsTheOldSet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(9)
	b.model.before = func(_ context.Context, model string, inputs []string) error {
		if model == "new model" && strings.Contains(strings.Join(inputs, " "), "valve 7") {
			return errors.New("too much for it")
		}
		return nil
	}
	o := quick(t)
	o.Attempts = 4
	b.start(o)
	b.await(0, openJobs)
	before := b.stored()
	if _, err := reembed.Begin(t.Context(), b.rows, "new model"); err != nil {
		t.Fatal(err)
	}
	b.await(1, deadJobs)
	b.await(0, openJobs)
	b.mustNotFinish()
	if b.number(`select public.abandon_reembed()::integer`) != 1 {
		t.Fatal("there was no new set")
	}
	if err := reembed.Clear(t.Context(), b.rows, 0); err != nil {
		t.Fatal(err)
	}
	if after := b.stored(); !slices.Equal(before, after) {
		t.Errorf("there were %d chunks before the new set and %d after abandoning it, or they differ", len(before), len(after))
	}
	b.run(`update public.tickets set description = 'Dry' where name = 'Pump 7'`)
	b.await(0, openJobs)
	b.await(0, deadJobs)
	b.mustBeCurrent()
}

// A program of another version leaves jobs to workers that chunk as the new set requires.
func TestAnotherChunkingIsLeftToOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(3)
	b.start(quick(t))
	b.await(0, openJobs)
	b.run(`select public.begin_reembed('stand-in', $1)`, chunk.Version+1)
	b.run(`update public.tickets set description = 'Dry' where name = 'Pump 1'`)
	b.await(1, `select count(*) from public.chunks where text like '%Dry'`)
	b.await(4, `select count(distinct source_id) from tasklens.embedding_jobs where dead_at is null`)
	if got := b.number(`select count(*) from public.chunks where embedding_set = 2`); got != 0 {
		t.Errorf("%d chunks are in the new set, want none", got)
	}
	b.mustNotFinish()
}
