package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tasklens/internal/measure"
	"tasklens/internal/wait"
)

const (
	// writers is the number of concurrent sessions when the database's own rate is measured: a
	// worker's default number of concurrent batches.
	writers = 4
	// written is the number of rows per statement: about the chunks of one batch.
	written = 150
	// refilled is the number of tickets whose chunks are recreated: enough to make the worker's
	// start-up delay and last batches negligible.
	refilled = 6000
)

// backfill measures how fast missing chunks are recreated, how fast the database alone takes the
// same rows, and how long searches take meanwhile.
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
	chunks, lasted, used, err := f.refill(ctx, func() error { return nil })
	if err != nil {
		return Table{}, err
	}
	f.Progress("inserting the same rows without the service")
	alone, err := f.insert(ctx)
	if err != nil {
		return Table{}, err
	}
	f.Progress("recreating chunks during searches")
	var busy []float64
	busyChunks, busyLasted, _, err := f.refill(ctx, func() (err error) {
		busy, err = search(f.Lasting, 2*firstOfHTTP)
		return err
	})
	if err != nil {
		return Table{}, err
	}
	own, its := float64(chunks)/alone.Seconds(), float64(chunks)/lasted.Seconds()
	table := Table{
		Title:  fmt.Sprintf("Backfill of %d tickets, with a model that takes %v a request", refilled, f.Delays.Embed),
		Header: []string{"what", "is"},
		Rows: [][]string{
			{fmt.Sprintf("chunks a second that %d sessions insert without the service", writers), number(own)},
			{"chunks a second of the service's worker", number(its)},
			{"ratio of the two", ratio(its, own)},
			{"chunks a second of the worker during searches", number(float64(busyChunks) / busyLasted.Seconds())},
			{fmt.Sprintf("search at %d a second, idle system: p50, ms", rate), number(measure.Quantile(calm, 0.5))},
			{"p95, ms", number(measure.Quantile(calm, 0.95))},
			{"search during a backfill: p50, ms", number(measure.Quantile(busy, 0.5))},
			{"p95, ms", number(measure.Quantile(busy, 0.95))},
		},
		Caption: "Search times include the model's time. All parts run on this machine.",
	}
	for i, name := range coreNames(f.Processes) {
		table.Rows = append(table.Rows, []string{"processors in use by the backfill alone: " + name, used[i]})
	}
	return table, nil
}

// refill deletes the chunks of some tickets, queues them, runs meanwhile, and waits until the
// chunks are back. used are the processors in use since the queuing.
func (f Fresh) refill(ctx context.Context, meanwhile func() error) (chunks int, lasted time.Duration, used []string, err error) {
	if err := f.empty(ctx); err != nil {
		return 0, 0, nil, err
	}
	started, before := time.Now(), cpuTimes("/proc", f.Processes)
	if _, err := f.Connection.Exec(ctx, `select public.enqueue_missing_embeddings($1)`, model); err != nil {
		return 0, 0, nil, fmt.Errorf("queue what is missing: %w", err)
	}
	if err := meanwhile(); err != nil {
		return 0, 0, nil, err
	}
	for left := 1; left > 0; {
		if err := wait.For(ctx, 50*time.Millisecond); err != nil {
			return 0, 0, nil, err
		}
		err := f.Connection.QueryRow(ctx, `select count(*) from private.embedding_jobs where dead_at is null`).Scan(&left)
		if err != nil {
			return 0, 0, nil, fmt.Errorf("read the queue: %w", err)
		}
	}
	lasted = time.Since(started)
	used = cores(before, cpuTimes("/proc", f.Processes), lasted, f.Processes)
	err = f.Connection.QueryRow(ctx, `select count(*) from public.chunks where ticket_id <= $1`, refilled).Scan(&chunks)
	return chunks, lasted, used, err
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

// insert measures how long plain SQL takes to insert the rows that refill created.
func (f Fresh) insert(ctx context.Context) (time.Duration, error) {
	columns := `project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding`
	_, err := f.Connection.Exec(ctx, fmt.Sprintf(`drop table if exists bench.kept;
		create table bench.kept as select row_number() over (order by ticket_id, position) - 1 as place, %s from public.chunks where ticket_id <= %d;
		create index on bench.kept (place); analyze bench.kept`, columns, refilled))
	if err != nil {
		return 0, fmt.Errorf("keep rows: %w", err)
	}
	if err := f.empty(ctx); err != nil {
		return 0, err
	}
	var rows int
	if err := f.Connection.QueryRow(ctx, `select count(*) from bench.kept`).Scan(&rows); err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	var sessions [writers]*pgx.Conn
	for i := range sessions {
		if sessions[i], err = Connect(ctx, f.DatabaseURL); err != nil {
			return 0, err
		}
		defer sessions[i].Close(context.WithoutCancel(ctx))
	}
	started := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for i, session := range sessions {
		group.Go(func() error {
			for from := i * written; from < rows; from += writers * written {
				_, err := session.Exec(ctx, `insert into public.chunks (`+columns+`) select `+columns+` from bench.kept where place >= $1 and place < $2`, from, from+written)
				if err != nil {
					return fmt.Errorf("insert rows: %w", err)
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return time.Since(started), err
}
