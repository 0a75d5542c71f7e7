package bench

import (
	"context"
	"fmt"
	"time"
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
