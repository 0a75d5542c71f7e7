package worker_test

import (
	"testing"

	"tasklens/internal/index"
	"tasklens/internal/tokenizer"
)

// A request contains the texts of many sources, and never more inputs or tokens than a provider
// accepts, also if one source has more.
func TestRequestLimits(t *testing.T) {
	t.Parallel()
	measure, err := tokenizer.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		limits   index.Limits
		requests int // at most, for 40 texts of 20 to 25 tokens and a ticket of 8 chunks of up to 500
	}{
		"inputs":  {index.Limits{Inputs: 4, Tokens: 100_000}, 14},
		"tokens":  {index.Limits{Inputs: 2048, Tokens: 1200}, 7},
		"neither": {index.Limits{Inputs: 2048, Tokens: 100_000}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.indexer = index.New(b.model, measure, c.limits)
			b.fill(40)
			b.run(`update public.tickets set description = (select string_agg('valve ' || i, ' ') from generate_series(1, 900) i) where name = 'Pump 1'`)
			b.start(quick(t))
			b.await(0, openJobs)
			requests := b.model.requests()
			for _, inputs := range requests {
				tokens := 0
				for _, input := range inputs {
					tokens += len(measure.Lengths(input))
				}
				if len(inputs) > c.limits.Inputs || tokens > c.limits.Tokens {
					t.Errorf("a request has %d inputs with %d tokens, want at most %d and %d", len(inputs), tokens, c.limits.Inputs, c.limits.Tokens)
				}
			}
			if len(requests) > c.requests {
				t.Errorf("there were %d requests, want at most %d", len(requests), c.requests)
			}
		})
	}
}
