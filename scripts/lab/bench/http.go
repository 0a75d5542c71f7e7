package bench

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/wait"
)

const (
	rate          = 10 // requests a second of the fixed rate
	repeatedCount = 20 // queries that are asked again and again where embeddings may be remembered
	firstOfHTTP   = 1_000_000
)

// kind is how queries follow one another: all different, or a few again and again.
type kind struct {
	name  string
	query func(i int) int // the number of the collection's query that is asked as the i-th
}

// kinds are the two. from keeps runs apart: a query that another run asked would not be new.
func kinds(from int) []kind {
	return []kind{
		{"uncached", func(i int) int { return from + i }},
		{"cached", func(i int) int { return firstOfHTTP - 1 - i%repeatedCount }},
	}
}

// ask posts the query that a kind asks as its i-th.
func (r Run) ask(path string, body func(text string) []byte, k kind) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		_, err := r.Service.post(ctx, path, body(r.Collection.Query(k.query(i)).Text))
		return err
	}
}

// settledCaption says what settle does.
const settledCaption = "Measured before the loads of many clients, with the tables and indexes in Postgres's memory, after searches on every connection and a rest of the machine."

// settle asks new queries by a few clients for a while, so that every connection has its plans and
// has touched the database's memory, which Load has filled, and then lets the machine stand idle:
// where processors are lent out, whoever has used them to the full, as loading does, is given less
// for a while. For the same reason the fixed rate comes before the loads that leave no processor
// idle.
func (r Run) settle(ctx context.Context, from int) error {
	r.Progress("warming up")
	samples := loop(ctx, 4, 2*r.Lasting, r.ask("/api/hybrid-search", searchBody, kinds(from)[0]))
	if _, failed, first := outcome(samples); failed > 0 {
		return fmt.Errorf("warm up: %w", first)
	}
	r.Progress("resting")
	return wait.For(ctx, 4*r.Lasting)
}

// warmUp asks once what will be repeated, so that it is remembered where anything is.
func (r Run) warmUp(ctx context.Context, path string, body func(text string) []byte) error {
	for i := range repeatedCount {
		if err := r.ask(path, body, kinds(0)[1])(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// load is a way to ask: at the fixed rate, or by so many clients in a closed loop.
type load struct {
	name    string
	clients int // 0 for the fixed rate
}

func loads(clients ...int) []load {
	out := []load{{fmt.Sprintf("%d requests a second", rate), 0}}
	for _, n := range clients {
		name := fmt.Sprintf("%d clients", n)
		if n == 1 {
			name = "1 client"
		}
		out = append(out, load{name, n})
	}
	return out
}

func (l load) run(ctx context.Context, lasting time.Duration, do func(ctx context.Context, i int) error) []sample {
	if l.clients > 0 {
		return loop(ctx, l.clients, lasting, do)
	}
	return arrive(ctx, time.Second/rate, max(1, int(lasting.Seconds()*rate)), do)
}

func searchBody(text string) []byte { return encode(map[string]any{"query": text, "limit": results}) }

// service measures the search endpoint under every load, and what it adds to database and model.
func (r Run) service(ctx context.Context) ([]Table, error) {
	table := Table{
		Title:  "POST /api/hybrid-search, ms and processors in use",
		Header: append([]string{"load", "requests", "failed", "a second", "p50", "p95", "p99"}, coreNames(r.Processes)...),
		Caption: fmt.Sprintf("%v each. Uncached: every query is new. Cached: %d queries again and again. At the fixed rate a request is timed from when it was due. "+
			"All parts run on this machine, the clients too; the model is the stand-in without delay. %s", r.Lasting, repeatedCount, stolenCaption),
	}
	from := firstOfHTTP + r.Salt
	ask := func(loads ...load) error {
		for _, l := range loads {
			for _, k := range kinds(from) {
				r.Progress("asking the service: " + l.name + ", " + k.name)
				took, row, err := r.measureLoad(ctx, l, l.name+", "+k.name, r.ask("/api/hybrid-search", searchBody, k))
				if err != nil {
					return err
				}
				table.Rows = append(table.Rows, append(append(row.cells, quantiles(took)...), row.cores...))
			}
			from += firstOfHTTP
		}
		return nil
	}
	if err := r.settle(ctx, from); err != nil {
		return nil, err
	}
	from += firstOfHTTP
	if err := r.warmUp(ctx, "/api/hybrid-search", searchBody); err != nil {
		return nil, err
	}
	all := loads(r.Clients...)
	if err := ask(all[0]); err != nil {
		return nil, err
	}
	overhead, err := r.overhead(ctx, from)
	if err != nil {
		return nil, err
	}
	from += firstOfHTTP
	err = ask(all[1:]...)
	return []Table{table, overhead}, err
}

// loadRow is a row of a table without its times: its name, the requests, those that failed, how
// many a second succeeded; and the processors that were in use.
type loadRow struct{ cells, cores []string }

// measureLoad asks under a load, and gives the milliseconds of what succeeded.
func (r Run) measureLoad(ctx context.Context, l load, name string, do func(ctx context.Context, i int) error) ([]float64, loadRow, error) {
	before, started := cpuTimes("/proc", r.Processes), time.Now()
	samples := l.run(ctx, r.Lasting, do)
	lasted := time.Since(started)
	after := cpuTimes("/proc", r.Processes)
	took, failed, first := outcome(samples)
	if len(took) == 0 {
		return nil, loadRow{}, fmt.Errorf("ask the service, %s: %w", name, first)
	}
	return took, loadRow{
		cells: []string{name, fmt.Sprint(len(samples)), fmt.Sprint(failed), number(float64(len(took)) / lasted.Seconds())},
		cores: cores(before, after, lasted, r.Processes),
	}, nil
}
