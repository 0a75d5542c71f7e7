package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/chunk"
	"tasklens/internal/memo"
	"tasklens/internal/reembed"
	"tasklens/internal/search"
)

// found returns the tickets that vector search finds for the text of one, the nearest first. It
// searches like the service, by the serving model.
func (b *bench) found(serving *reembed.Serving, input string) (names []string) {
	b.t.Helper()
	model, err := serving.Use(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	searcher := search.New(search.Weights{Vector: 1, Keyword: 0}, func(_ context.Context, message string, err error) { b.t.Errorf("%s: %v", message, err) })
	page, err := searcher.Hybrid(b.t.Context(), b.rows, search.Query{Text: input, MatchThreshold: new(0.9), Limit: 10}, memo.NewEmbeddings(b.model, "", nil, nil).Query(model, input))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, hit := range page.Hits {
		if hit.VectorRank != nil {
			names = append(names, *hit.TicketName)
		}
	}
	return names
}

// mustFind searches by the inputs that were embedded, which only the right model finds: its vectors
// for them are equal, those of the other model far away.
func (b *bench) mustFind(when string, serving *reembed.Serving) {
	b.t.Helper()
	for _, name := range []string{"Pump 1", "Pump 2", "Pump 9"} {
		var text string
		if err := b.tracker.QueryRow(b.t.Context(), `select 'Pumps — ' || name || e'\n\n' || name || e'\n\n' || description from public.tickets where name = $1`, name).Scan(&text); err != nil {
			b.t.Fatal(err)
		}
		if got := b.found(serving, text); !slices.Equal(got, []string{name}) {
			b.t.Errorf("%s, a search for %q finds %q", when, name, got)
		}
	}
}

// use starts another set for a model, and updates the service's reading of it.
func (b *bench) use(model string) {
	b.t.Helper()
	if _, err := reembed.Begin(b.t.Context(), b.rows, model); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) finish(want bool) {
	b.t.Helper()
	if serves, err := reembed.Finish(b.t.Context(), b.rows); err != nil || serves != want {
		b.t.Fatalf("the new set serves: %v, %v; want %v", serves, err, want)
	}
}

// serving returns a fresh reading of the serving model.
func (b *bench) serving() *reembed.Serving {
	return reembed.NewServing(b.rows, b.model.EmbeddingModel())
}

const inSet = `select count(*) from public.chunks where embedding_set = $1 and model = $2`

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
	b.use("new model")
	b.await(1, deadJobs)
	b.await(0, openJobs)
	b.finish(false)
	b.mustFind("while a source is rejected", b.serving())
	if was, err := reembed.Abandon(t.Context(), b.rows); err != nil || !was {
		t.Fatal(was, err)
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
	if got := b.number(inSet, 2, "stand-in"); got != 0 {
		t.Errorf("%d chunks are in the new set, want none", got)
	}
	b.finish(false)
}
