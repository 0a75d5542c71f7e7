package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tasklens/internal/measure"
)

// Delays are the time that the model's stand-in takes for an embedding and for a chat.
type Delays struct{ Embed, Chat time.Duration }

// answers measures searches and answers where the model takes its time, as real ones do.
func (r Run) answers(ctx context.Context) ([]Table, error) {
	table := Table{
		Title:  fmt.Sprintf("With a model that takes %v for an embedding and %v for a chat, ms", r.Delays.Embed, r.Delays.Chat),
		Header: []string{"endpoint and load", "requests", "failed", "a second", "mean", "p50", "p95", "mean less the model's", "p95 less the model's"},
		Caption: fmt.Sprintf("%v each, thresholds of 0.3 so that the chat is asked. Uncached: every query is new. Cached: %d queries again and again; "+
			"the model's time is taken off all the same, so a negative number is time that was saved.", r.Lasting, repeatedCount),
	}
	endpoints := []struct {
		path string
		body func(text string) []byte
		own  time.Duration
	}{
		{"/api/hybrid-search", func(text string) []byte {
			return encode(map[string]any{"query": text, "limit": results, "match_threshold": 0.3})
		}, r.Delays.Embed},
		{"/api/query", func(text string) []byte {
			return encode(map[string]any{"question": text, "match_threshold": 0.3})
		}, r.Delays.Embed + r.Delays.Chat},
	}
	from := 10*firstOfHTTP + r.Salt
	for _, e := range endpoints {
		if err := r.warmUp(ctx, e.path, e.body); err != nil {
			return nil, err
		}
		for _, l := range loads(slices.Max(r.Clients)) {
			for _, k := range kinds(from) {
				name := e.path + ", " + l.name + ", " + k.name
				r.Progress("asking " + name)
				started := time.Now()
				samples := l.run(ctx, r.Lasting, r.ask(e.path, e.body, k))
				lasted := time.Since(started)
				took, failed, first := outcome(samples)
				if len(took) == 0 {
					return nil, fmt.Errorf("ask %s: %w", name, first)
				}
				mean, p95, own := measure.Mean(took), measure.Quantile(took, 0.95), milliseconds(e.own)
				table.Rows = append(table.Rows, []string{name, fmt.Sprint(len(samples)), fmt.Sprint(failed), number(float64(len(took)) / lasted.Seconds()),
					number(mean), number(measure.Quantile(took, 0.5)), number(p95), number(mean - own), number(p95 - own)})
			}
			from += firstOfHTTP
		}
	}
	return []Table{table}, nil
}
