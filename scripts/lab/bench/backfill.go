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
	// writers are the sessions that insert at once where the database's own rate is measured: as
	// many as a worker has batches under way by default.
	writers = 4
	// written are the rows of one of their statements: about the chunks of one batch.
	written = 150
	// refilled is how many tickets' chunks are made anew: enough for the second or two until a
	// worker looks, and the last batches, to count for little.
	refilled = 6000
)

// backfill measures how fast missing chunks are made, beside how fast the database alone takes the
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
	f.Progress("searching while nothing else happens")
	calm, err := search(f.Lasting, firstOfHTTP)
	if err != nil {
		return Table{}, err
	}
	f.Progress("making chunks anew")
	chunks, lasted, used, err := f.refill(ctx, func() error { return nil })
	if err != nil {
		return Table{}, err
	}
	f.Progress("inserting the same rows without the service")
	alone, err := f.insert(ctx)
	if err != nil {
		return Table{}, err
	}
	f.Progress("making chunks anew while searches are asked")
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
			{"the second as a share of the first", ratio(its, own)},
			{"chunks a second of the worker while searches are asked", number(float64(busyChunks) / busyLasted.Seconds())},
			{fmt.Sprintf("search at %d a second, nothing else: p50, ms", rate), number(measure.Quantile(calm, 0.5))},
			{"p95, ms", number(measure.Quantile(calm, 0.95))},
			{"search during a backfill: p50, ms", number(measure.Quantile(busy, 0.5))},
			{"p95, ms", number(measure.Quantile(busy, 0.95))},
		},
		Caption: "The model's time is in a search's. All parts run on this machine.",
	}
	for i, name := range coreNames(f.Processes) {
		table.Rows = append(table.Rows, []string{"processors in use by the backfill alone: " + name, used[i]})
	}
	return table, nil
}

// refill removes the chunks of some tickets, asks for them, does something meanwhile, and waits
// until they are there. used are the processors in use from the asking on.
func (f Fresh) refill(ctx context.Context, meanwhile func() error) (chunks int, lasted time.Duration, used []string, err error) {
	if err := f.empty(ctx); err != nil {
		return 0, 0, nil, err
	}
	started, before := time.Now(), cpuTimes("/proc", f.Processes)
	if _, err := f.Connection.Exec(ctx, `select public.enqueue_missing_embeddings($1)`, model); err != nil {
		return 0, 0, nil, fmt.Errorf("ask for what is missing: %w", err)
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
			return 0, 0, nil, fmt.Errorf("look at the queue: %w", err)
		}
	}
	lasted = time.Since(started)
	used = cores(before, cpuTimes("/proc", f.Processes), lasted, f.Processes)
	err = f.Connection.QueryRow(ctx, `select count(*) from public.chunks where ticket_id <= $1`, refilled).Scan(&chunks)
	return chunks, lasted, used, err
}

// empty removes chunks, from the index too: what is dead in it would slow down what comes next.
func (f Fresh) empty(ctx context.Context) error {
	if _, err := f.Connection.Exec(ctx, `delete from public.chunks where ticket_id <= $1`, refilled); err != nil {
		return fmt.Errorf("remove chunks: %w", err)
	}
	if _, err := f.Connection.Exec(ctx, `vacuum (analyze) public.chunks`); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return nil
}

// insert tells how long the rows that refill has made take when they are inserted by SQL alone.
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
