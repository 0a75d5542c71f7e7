package bench

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/measure"
	"tasklens/internal/vector"
)

// overhead asks every query of three: the service, the database as the service asks it, and the model as the service
// asks it. Each is new to each.
func (r Run) overhead(ctx context.Context, from int) (Table, error) {
	r.Progress("measuring what the service adds")
	parts := []struct {
		name string
		to   Endpoint
		path string
		body func(text string) []byte
	}{
		{"the service", r.Service, "/api/hybrid-search", searchBody},
		{"the database: search_hybrid through PostgREST or the gateway", r.REST, "/rpc/search_hybrid", func(text string) []byte {
			return encode(map[string]any{
				"query_text": text, "query_embedding": vector.Vector(Embed(text, vector.Dimensions)), "embedding_model": model,
				"match_threshold": threshold, "match_count": results + 1, "match_offset": 0, "vector_weight": 1, "keyword_weight": 1,
			})
		}},
		{"the model: an embedding", r.Model, "/embeddings", func(text string) []byte {
			return encode(map[string]any{"model": model, "input": []string{text}, "encoding_format": "base64"})
		}},
	}
	queries := max(1, int(r.Lasting.Seconds()*rate/2))
	// The turn goes round: who asks first finds the caches cold.
	turn := func(i int) (query, part int) { return i / len(parts), (i + i/len(parts)) % len(parts) }
	bodies := make([][]byte, queries*len(parts)) // made before, so that making them is not timed
	for i := range bodies {
		query, part := turn(i)
		bodies[i] = parts[part].body(r.Collection.Query(from + query).Text)
	}
	// Each part at the fixed rate: they arrive in turn, evenly spaced.
	samples := arrive(ctx, time.Second*2/time.Duration(rate*len(parts)), len(bodies), func(ctx context.Context, i int) error {
		_, part := turn(i)
		_, err := parts[part].to.post(ctx, parts[part].path, bodies[i])
		return err
	})
	if err := ctx.Err(); err != nil {
		return Table{}, err
	}
	took := make([][]float64, len(parts))
	for i, s := range samples {
		_, part := turn(i)
		if s.err != nil {
			return Table{}, fmt.Errorf("ask %s: %w", parts[part].name, s.err)
		}
		took[part] = append(took[part], milliseconds(s.took)) // in the order of the queries
	}
	table := Table{
		Title: fmt.Sprintf("What the service adds at %d requests a second, ms", rate), Header: []string{"part", "p50", "p95", "p99"},
		Caption: fmt.Sprintf("%d new queries, each asked of all three in turn, over HTTP and by the same client; the database, which two of them ask, gets the fixed rate. "+
			"What the service adds is its p50 less the p50 of the other two; wanted is 2 ms at most. The last line takes the difference query by query.", queries),
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
