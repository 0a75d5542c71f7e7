package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tasklens/scripts/lab/measure"
	"tasklens/scripts/lab/offline"
)

// Delays are the response times of the model stand-in for an embedding and for a chat.
type Delays struct{ Embed, Chat time.Duration }

// endpoint is an endpoint of the service that calls the model.
type endpoint struct {
	path  string
	body  func(text string) []byte
	model func(ctx context.Context, text string) error // makes the endpoint's model calls directly
}

// answerThreshold is low enough that there are always sources, so the chat model is called.
const answerThreshold = 0.3

func (r Run) endpoints() []endpoint {
	embed := func(ctx context.Context, text string) error {
		_, err := r.Model.post(ctx, "/embeddings", embedBody(text))
		return err
	}
	return []endpoint{
		{"/api/hybrid-search", func(text string) []byte {
			return encode(map[string]any{"query": text, "limit": results, "match_threshold": answerThreshold})
		}, embed},
		{"/api/query", func(text string) []byte {
			return encode(map[string]any{"question": text, "match_threshold": answerThreshold})
		}, func(ctx context.Context, text string) error {
			if err := embed(ctx, text); err != nil {
				return err
			}
			_, err := r.Model.post(ctx, "/chat/completions", encode(map[string]any{
				"model": offline.ChatModel, "messages": []any{map[string]any{"role": "user", "content": text}}}))
			return err
		}},
	}
}

// answers measures searches and answers with a model that has realistic response times.
func (r Run) answers(ctx context.Context) ([]Table, error) {
	table := Table{
		Title:  fmt.Sprintf("With a model that takes %v for an embedding and %v for a chat, ms", r.Delays.Embed, r.Delays.Chat),
		Header: []string{"endpoint and load", "requests", "failed", "a second", "mean", "p50", "p95"},
		Caption: fmt.Sprintf("%v each, thresholds of %v so that the chat model is called. Uncached: every query is new. Cached: %d queries, repeated.",
			r.Lasting, answerThreshold, repeatedCount),
	}
	from := 10*firstOfHTTP + r.Salt
	endpoints := r.endpoints()
	ask := func(loads ...load) error {
		for _, l := range loads {
			for _, e := range endpoints {
				for _, k := range kinds(from) {
					name := e.path + ", " + l.name + ", " + k.name
					r.Progress("asking " + name)
					took, row, err := r.measureLoad(ctx, l, name, r.ask(e.path, e.body, k))
					if err != nil {
						return err
					}
					table.Rows = append(table.Rows, append(row, number(measure.Mean(took)), number(measure.Quantile(took, 0.5)), number(measure.Quantile(took, 0.95))))
				}
				from += firstOfHTTP
			}
		}
		return nil
	}
	if err := r.settle(ctx, from); err != nil {
		return nil, err
	}
	from += firstOfHTTP
	for _, e := range endpoints {
		if err := r.warmUp(ctx, e.path, e.body); err != nil {
			return nil, err
		}
	}
	all := loads(slices.Max(r.Clients))
	if err := ask(all[0]); err != nil {
		return nil, err
	}
	added, err := r.addedToModel(ctx, from)
	if err != nil {
		return nil, err
	}
	from += len(endpoints) * firstOfHTTP
	err = ask(all[1:]...)
	return []Table{table, added}, err
}

// addedToModel alternates between the service and direct calls of the model with the same new
// queries.
func (r Run) addedToModel(ctx context.Context, from int) (Table, error) {
	table := Table{
		Title:  fmt.Sprintf("What service and database add to the model's time at %d requests a second, ms", rate),
		Header: []string{"endpoint", "p50", "p95", "the model alone, p50", "p95", "added, p50", "p95"},
		Caption: "Every query is new, and sent to the service and to the model alone in turn, over HTTP by the same client. " +
			"Added is the difference of the quantiles. " + settledCaption,
	}
	for _, e := range r.endpoints() {
		r.Progress("measuring what " + e.path + " adds to the model's time")
		n := max(1, int(r.Lasting.Seconds()*rate))
		took, err := r.inTurn(ctx, time.Second/(2*rate), from, n, []part{
			{"the service", func(text string) request { return r.Service.prepare(e.path, e.body(text)) }},
			{"the model", func(text string) request {
				return func(ctx context.Context) error { return e.model(ctx, text) }
			}},
		})
		if err != nil {
			return Table{}, err
		}
		from += firstOfHTTP
		row := []string{e.path}
		for _, values := range took {
			row = append(row, number(measure.Quantile(values, 0.5)), number(measure.Quantile(values, 0.95)))
		}
		for _, p := range []float64{0.5, 0.95} {
			row = append(row, number(measure.Quantile(took[0], p)-measure.Quantile(took[1], p)))
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}
