package bench

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/measure"
)

const (
	rate          = 10 // requests a second of the fixed rate
	repeatedCount = 20 // repeated queries, for the cached case
	firstOfHTTP   = 1_000_000
)

// kind is a sequence of queries: all different, or a few repeated.
type kind struct {
	name  string
	query func(i int) int // maps request i to a query of the collection
}

// kinds returns both. from separates runs: a query used by another run would not be new.
func kinds(from int) []kind {
	return []kind{
		{"uncached", func(i int) int { return from + i }},
		{"cached", func(i int) int { return firstOfHTTP - 1 - i%repeatedCount }},
	}
}

// ask posts query i of a kind.
func (r Run) ask(path string, body func(text string) []byte, k kind) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		_, err := r.Service.post(ctx, path, body(r.Collection.Query(k.query(i)).Text))
		return err
	}
}

// settledCaption describes settle.
const settledCaption = "Measured before the loads of many clients, with the tables and indexes in Postgres's memory, after searches on every connection and an idle pause."

// settle sends new queries from a few clients so that every connection has plans and a warm cache,
// then pauses: burstable machines are throttled after heavy use such as loading. For the same
// reason the fixed rate is measured before the loads that saturate the processors.
func (r Run) settle(ctx context.Context, from int) error {
	r.Progress("warming up")
	samples := loop(ctx, 4, 2*r.Lasting, r.ask("/api/hybrid-search", searchBody, kinds(from)[0]))
	if _, failed, first := outcome(samples); failed > 0 {
		return fmt.Errorf("warm up: %w", first)
	}
	r.Progress("resting")
	return wait.For(ctx, 4*r.Lasting)
}

// warmUp sends each query that will be repeated once, to fill the caches.
func (r Run) warmUp(ctx context.Context, path string, body func(text string) []byte) error {
	for i := range repeatedCount {
		if err := r.ask(path, body, kinds(0)[1])(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// load is a fixed rate, or a number of clients in a closed loop.
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

// service measures the search endpoint under every load.
func (r Run) service(ctx context.Context) ([]Table, error) {
	table := Table{
		Title:  "POST /api/hybrid-search, ms",
		Header: []string{"load", "requests", "failed", "a second", "mean", "p50", "p95", "p99"},
		Caption: fmt.Sprintf("%v each. Uncached: every query is new. Cached: %d queries, repeated. At the fixed rate a request is timed from when it was due. "+
			"All parts run on this machine, the clients too; the model is the stand-in without delay. %s", r.Lasting, repeatedCount, settledCaption),
	}
	from := firstOfHTTP + r.Salt
	ask := func(loads ...load) error {
		for _, l := range loads {
			for _, k := range kinds(from) {
				r.Progress("measuring the service: " + l.name + ", " + k.name)
				took, row, err := r.measureLoad(ctx, l, l.name+", "+k.name, r.ask("/api/hybrid-search", searchBody, k))
				if err != nil {
					return err
				}
				table.Rows = append(table.Rows, append(append(row, number(measure.Mean(took))), quantiles(took)...))
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
	err := ask(loads(r.Clients...)...)
	return []Table{table}, err
}

// measureLoad runs a load and returns the milliseconds of its successful requests, and a row
// without these: name, number of requests and failures, successes a second.
func (r Run) measureLoad(ctx context.Context, l load, name string, do func(ctx context.Context, i int) error) (took []float64, row []string, err error) {
	started := time.Now()
	samples := l.run(ctx, r.Lasting, do)
	lasted := time.Since(started)
	took, failed, first := outcome(samples)
	if len(took) == 0 {
		return nil, nil, fmt.Errorf("measure the service, %s: %w", name, first)
	}
	return took, []string{name, fmt.Sprint(len(samples)), fmt.Sprint(failed), number(float64(len(took)) / lasted.Seconds())}, nil
}
