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

// Another model takes over, with a stop and an edit in between. Search uses the old vectors until
// the switch, and the new ones afterwards.
func TestAnotherModelTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(40)
	stop := b.start(quick(t))
	b.await(0, openJobs)
	stop()
	b.mustFind("before the new set", b.serving())

	// The new model is slow: it accepts a request and delays the next.
	b.use("new model")
	turns := make(chan struct{}, 100)
	b.model.before = func(ctx context.Context, model string, _ []string) error {
		if model != "new model" {
			return nil
		}
		select {
		case <-turns:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	o := quick(t)
	o.Batch, o.Concurrency = 10, 1
	stop = b.start(o)
	turns <- struct{}{}
	b.await(10, inSet, 2, "new model")
	b.mustFind("while the new set is incomplete", b.serving())
	b.finish(false)
	stop()
	b.await(31, openJobs)

	// An edit and a new ticket while no worker runs; another edit while one does.
	b.run(`update public.tickets set description = 'Sealed' where name = 'Pump 1'`)
	b.run(`insert into public.tickets (project_id, status_id, name, description) select project_id, status_id, 'Pump 41', 'New' from public.tickets limit 1`)
	b.use("new model")
	stop = b.start(o)
	turns <- struct{}{}
	b.await(1, `select count(*) from public.chunks where embedding_set = 1 and text like '%Sealed'`)
	b.mustFind("after an edit during embedding", b.serving())
	b.run(`update public.tickets set description = 'Dry' where name = 'Pump 2'`)
	for range cap(turns) - len(turns) {
		turns <- struct{}{}
	}
	b.await(0, openJobs)
	for set, model := range map[int]string{1: "stand-in", 2: "new model"} {
		if got := b.number(inSet, set, model); got != 42 {
			t.Errorf("set %d has %d chunks of %q, want 42", set, got, model)
		}
	}
	if got := b.number(`select count(*) from public.chunks where text like '%Sealed' or text like '%Dry' or text like '%New'`); got != 6 {
		t.Errorf("%d chunks contain the edited texts, want 3 in each of two sets", got)
	}
	b.mustFind("before the switch", b.serving())
	late := b.serving()
	if _, err := late.Use(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.finish(true)
	b.mustFind("after the switch", b.serving())
	b.mustFind("with a reader that has not seen the switch", late)

	// The old set is deleted, and everything equals a fresh embedding by the new model.
	if err := reembed.Clear(t.Context(), b.rows, 0); err != nil {
		t.Fatal(err)
	}
	b.mustFind("after the old set is cleared", b.serving())
	if got := b.number(`select count(*) from public.chunks`); got != 42 {
		t.Errorf("%d chunks remain, want 42", got)
	}
	// In one batch: documents keep the configured model.
	b.run(`with d as (insert into public.documents (title, content) values ('Runbook', 'Turn it off and on again.'))
		update public.tickets set description = 'Leaks again' where name = 'Pump 9'`)
	b.await(0, openJobs)
	if got := b.number(`select count(*) from public.embeddings where model = 'stand-in'`); got != 2 {
		t.Errorf("%d vectors are by the configured model, want 2: the document's and its chunk's", got)
	}
	b.mustFind("after an edit embedded by the new model", b.serving())
	stop()
	b.mustBeCurrent()
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
