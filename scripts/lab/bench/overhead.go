package bench

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/measure"
	"tasklens/internal/vector"
)

// request sends a prepared request.
type request func(ctx context.Context) error

// part is a component that receives queries.
type part struct {
	name string
	ask  func(text string) request
}

// inTurn sends n queries to every part, one request per interval, and returns the milliseconds by
// part and query. The order rotates, because the first part finds the caches cold. Requests are
// prepared in advance, outside the timing.
func (r Run) inTurn(ctx context.Context, interval time.Duration, from, n int, parts []part) ([][]float64, error) {
	turn := func(i int) (query, part int) { return i / len(parts), (i + i/len(parts)) % len(parts) }
	requests := make([]request, n*len(parts))
	for i := range requests {
		query, part := turn(i)
		requests[i] = parts[part].ask(r.Collection.Query(from + query).Text)
	}
	samples := arrive(ctx, interval, len(requests), func(ctx context.Context, i int) error { return requests[i](ctx) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	took := make([][]float64, len(parts))
	for i, s := range samples {
		_, part := turn(i)
		if s.err != nil {
			return nil, fmt.Errorf("ask %s: %w", parts[part].name, s.err)
		}
		took[part] = append(took[part], milliseconds(s.took))
	}
	return took, nil
}

func embedBody(text string) []byte {
	return encode(map[string]any{"model": model, "input": []string{text}, "encoding_format": "base64"})
}

// overhead sends every query to the service and, as the service does, to the database and to the
// model. The query is new to each.
func (r Run) overhead(ctx context.Context, from int) (Table, error) {
	r.Progress("measuring what the service adds")
	parts := []part{
		{"the service", func(text string) request { return r.Service.prepare("/api/hybrid-search", searchBody(text)) }},
		{"the database: search_hybrid through PostgREST or the gateway", func(text string) request {
			return r.REST.prepare("/rpc/search_hybrid", encode(map[string]any{
				"query_text": text, "query_embedding": vector.Vector(Embed(text, vector.Dimensions)), "embedding_model": model,
				"match_threshold": threshold, "match_count": results, "match_offset": 0, "vector_weight": 1, "keyword_weight": 1,
			}))
		}},
		{"the model: an embedding", func(text string) request { return r.Model.prepare("/embeddings", embedBody(text)) }},
	}
	queries := max(1, int(r.Lasting.Seconds()*rate/2))
	// Each part gets half of the fixed rate: requests are sent in turn, evenly spaced.
	before, started := cpuTimes("/proc", nil), time.Now()
	took, err := r.inTurn(ctx, time.Second*2/time.Duration(rate*len(parts)), from, queries, parts)
	if err != nil {
		return Table{}, err
	}
	used := cores(before, cpuTimes("/proc", nil), time.Since(started), nil)
	table := Table{
		Title: fmt.Sprintf("What the service adds at %d requests a second, ms", rate), Header: []string{"part", "p50", "p95", "p99"},
		Caption: fmt.Sprintf("%d new queries, each sent to all three in turn, over HTTP by the same client; the database, which two of them query, gets the fixed rate. "+
			"The service's overhead is its p50 minus the p50 of the other two; the goal is at most 2 ms. The last line is the difference per query. %s Stolen processors: %s.", queries, settledCaption, used[len(used)-1]),
	}
	for part, values := range took {
		table.Rows = append(table.Rows, append([]string{parts[part].name}, quantiles(values)...))
	}
	p50 := func(part int) float64 { return measure.Quantile(took[part], 0.5) }
	each := measure.Differences(measure.Differences(took[0], took[1]), took[2])
	table.Rows = append(table.Rows, []string{"added by the service", number(p50(0) - p50(1) - p50(2)), "", ""},
		append([]string{"added, query by query"}, quantiles(each)...))
	return table, nil
}
