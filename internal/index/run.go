package index

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// attempts bounds how often a source is read again because it changed while it was being embedded, or was being
// written by somebody else at the moment of storing.
const attempts = 6

// Index brings the chunks of some sources in step with their texts, all in a few calls, and tells what it did for
// each, in order. Unchanged chunks keep their ids and are not sent to the model, unless force. At most some hundred
// sources at a time: their chunks travel together.
func (x *Indexer) Index(ctx context.Context, db Database, sources []Source, force bool) ([]Result, error) {
	results := make([]Result, len(sources))
	pending := make([]int, len(sources)) // places in sources
	for i := range sources {
		results[i].Source = sources[i]
		pending[i] = i
	}
	known := map[string]vector.Vector{} // by input hash: what this call has paid for already
	for attempt := 1; len(pending) > 0; attempt++ {
		if attempt > attempts {
			return nil, fault.New(fault.Unavailable, fmt.Sprintf("The texts of %d sources are being changed just now.", len(pending)))
		}
		if attempt > 1 {
			if err := wait(ctx, time.Duration(attempt)*40*time.Millisecond); err != nil {
				return nil, err
			}
		}
		var err error
		if pending, err = x.attempt(ctx, db, results, pending, known, force); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// attempt does what can be done now and returns the places that want another attempt.
func (x *Indexer) attempt(ctx context.Context, db Database, results []Result, pending []int, known map[string]vector.Vector, force bool) ([]int, error) {
	wanted := make([]Source, len(pending))
	for i, place := range pending {
		wanted[i] = results[place].Source
	}
	rows, err := readSources(ctx, db, wanted)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	var plans []*plan
	var places []int
	next := 0 // rows come in the order asked for, without those that do not exist
	for i, place := range pending {
		if next == len(rows) || rows[next].ProjectID != wanted[i].ProjectID || !equal(rows[next].TicketID, wanted[i].TicketID) {
			results[place].Found = false
			continue
		}
		p := x.newPlan(rows[next], force)
		next++
		if p.unchanged() {
			x.finish(&results[place], p, storedIDs(p.stored))
			continue
		}
		plans = append(plans, p)
		places = append(places, place)
	}
	if len(plans) == 0 {
		return nil, nil
	}
	if err := x.embed(ctx, plans, places, results, known); err != nil {
		return nil, err
	}
	stored, err := store(ctx, db, plans)
	if err != nil {
		return nil, fmt.Errorf("store chunks: %w", err)
	}
	var again []int
	for i, p := range plans {
		if stored[i].Stored {
			x.finish(&results[places[i]], p, stored[i].EmbeddingIDs)
		} else {
			again = append(again, places[i])
		}
	}
	return again, nil
}

// finish sets the result of a source, and keeps the tokens that were counted on the way.
func (x *Indexer) finish(result *Result, p *plan, embeddingIDs []string) {
	tokens := result.Tokens
	*result = p.result(embeddingIDs)
	result.Tokens = tokens
}

// embed gives a vector to every new chunk, in as few requests as the limits allow.
func (x *Indexer) embed(ctx context.Context, plans []*plan, places []int, results []Result, known map[string]vector.Vector) error {
	var batch []*planned
	var inputs []string
	total := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, _, err := x.model.Embed(ctx, inputs)
		if err != nil {
			return err
		}
		for i, next := range batch {
			next.vector, known[next.inputHash] = vectors[i], vectors[i]
		}
		batch, inputs, total = nil, nil, 0
		return nil
	}
	for i, p := range plans {
		for j := range p.chunks {
			next := &p.chunks[j]
			if next.chunkID != nil {
				continue
			}
			if next.vector = known[next.inputHash]; next.vector != nil {
				continue
			}
			tokens := len(x.tokenizer.Lengths(next.input))
			if len(batch) == x.limits.Inputs || total+tokens > x.limits.Tokens {
				if err := flush(); err != nil {
					return err
				}
			}
			batch, inputs, total = append(batch, next), append(inputs, next.input), total+tokens
			results[places[i]].Tokens += tokens
		}
	}
	return flush()
}

// store writes the chunks of all plans in one transaction, each source only if its text is still the one that was
// embedded.
func store(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	var chunks []newChunk
	var vectors []vector.Vector
	for i, p := range plans {
		for position, next := range p.chunks {
			row := newChunk{Source: i + 1, ChunkID: next.chunkID, Kind: next.kind, StatusChangeID: next.statusChangeID, Position: position}
			if next.chunkID == nil {
				vectors = append(vectors, next.vector)
				place := len(vectors)
				row.Text, row.Tokens, row.InputHash, row.Model, row.Embedding = next.text, next.tokens, next.inputHash, next.model, &place
			}
			chunks = append(chunks, row)
		}
	}
	rows, err := storeChunks(ctx, db, plans, chunks, vectors)
	if err == nil && len(rows) != len(plans) {
		err = fmt.Errorf("%d answers for %d sources", len(rows), len(plans))
	}
	return rows, err
}

func storedIDs(chunks []storedChunk) []string {
	ids := make([]string, len(chunks))
	for i, stored := range chunks {
		ids[i] = stored.ChunkID
	}
	return ids
}

// wait pauses, or ends with the context.
func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Timeout, "The texts could not be embedded in time.", ctx.Err())
	}
}
