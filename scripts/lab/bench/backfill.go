package bench

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/measure"
)

// refilled is the number of tickets whose chunks are recreated: enough to make the worker's
// start-up delay and last batches negligible.
const refilled = 6000

// backfill measures how fast missing chunks are recreated, and how long searches take meanwhile.
func (f Fresh) backfill(ctx context.Context) (Table, error) {
	search := func(lasting time.Duration, from int) ([]float64, error) {
		r := Run{Service: f.Service, Collection: f.Collection}
		samples := load{}.run(ctx, lasting, r.ask("/api/hybrid-search", searchBody, kinds(f.Salt + from)[0]))
		took, failed, first := outcome(samples)
		if failed > 0 {
			return nil, fmt.Errorf("%d of %d searches failed: %w", failed, len(samples), first)
		}
		return took, nil
	}
	f.Progress("searching on an idle system")
	calm, err := search(f.Lasting, firstOfHTTP)
	if err != nil {
		return Table{}, err
	}
	f.Progress("recreating chunks")
	chunks, lasted, err := f.refill(ctx, func() error { return nil })
	if err != nil {
		return Table{}, err
	}
	f.Progress("recreating chunks during searches")
	var busy []float64
	busyChunks, busyLasted, err := f.refill(ctx, func() (err error) {
		busy, err = search(f.Lasting, 2*firstOfHTTP)
		return err
	})
	if err != nil {
		return Table{}, err
	}
	table := Table{
		Title:  fmt.Sprintf("Backfill of %d tickets, with a model that takes %v a request", refilled, f.Delays.Embed),
		Header: []string{"what", "is"},
		Rows: [][]string{
			{"chunks a second of the service's worker", number(float64(chunks) / lasted.Seconds())},
			{"chunks a second of the worker during searches", number(float64(busyChunks) / busyLasted.Seconds())},
			{fmt.Sprintf("search at %d a second, idle system: p50, ms", rate), number(measure.Quantile(calm, 0.5))},
			{"p95, ms", number(measure.Quantile(calm, 0.95))},
			{"search during a backfill: p50, ms", number(measure.Quantile(busy, 0.5))},
			{"p95, ms", number(measure.Quantile(busy, 0.95))},
		},
		Caption: "Search times include the model's time. All parts run on this machine.",
	}
	return table, nil
}

// refill deletes the chunks of some tickets, queues them, runs meanwhile, and waits until the
// chunks are back.
func (f Fresh) refill(ctx context.Context, meanwhile func() error) (chunks int, lasted time.Duration, err error) {
	if err := f.empty(ctx); err != nil {
		return 0, 0, err
	}
	if _, err := f.Connection.Exec(ctx, `select tasklens.recount_sources()`); err != nil {
		return 0, 0, fmt.Errorf("count what is missing: %w", err)
	}
	started := time.Now()
	if _, err := f.Connection.Exec(ctx, `select public.enqueue_missing_embeddings($1)`, model); err != nil {
		return 0, 0, fmt.Errorf("queue what is missing: %w", err)
	}
	if err := meanwhile(); err != nil {
		return 0, 0, err
	}
	if err := f.drain(ctx); err != nil {
		return 0, 0, err
	}
	lasted = time.Since(started)
	err = f.Connection.QueryRow(ctx, `select count(*) from public.chunks where ticket_id <= $1`, refilled).Scan(&chunks)
	return chunks, lasted, err
}

// drain waits until the queue is empty.
func (f Fresh) drain(ctx context.Context) error {
	for left := 1; left > 0; {
		if err := wait.For(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		err := f.Connection.QueryRow(ctx, `select count(*) from tasklens.embedding_jobs where dead_at is null`).Scan(&left)
		if err != nil {
			return fmt.Errorf("read the queue: %w", err)
		}
	}
	return nil
}

// empty deletes chunks and vacuums the index, because dead entries would slow down the next
// measurement.
func (f Fresh) empty(ctx context.Context) error {
	if _, err := f.Connection.Exec(ctx, `delete from public.chunks where ticket_id <= $1`, refilled); err != nil {
		return fmt.Errorf("remove chunks: %w", err)
	}
	if _, err := f.Connection.Exec(ctx, `vacuum (analyze) public.chunks`); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return nil
}
