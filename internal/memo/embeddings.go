package memo

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// embeddingLifetime is the cache lifetime of a query's embedding, which never goes stale.
const embeddingLifetime = 30 * 24 * time.Hour

const (
	// embeddingTime bounds one embedding of a query, however short its callers' deadlines are; a later
	// one counts.
	embeddingTime = 30 * time.Second
	// maxEmbeddings bounds those in progress, most of which nobody waits for if the model hangs.
	maxEmbeddings = 256
)

// Embedder embeds with any model of one provider.
type Embedder interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, cut []int, err error)
}

// Embeddings caches the embeddings of queries. One that outlasts its callers continues, within
// embeddingTime and maxEmbeddings, so that the next caller finds it cached. It is safe for
// concurrent use.
type Embeddings struct {
	model    Embedder
	provider string
	store    Store
	count    Count
	running  singleflight.Group
	slots    chan struct{}
}

// NewEmbeddings caches a provider's embeddings in a store; nil disables caching and sharing.
// provider separates equal model names of different providers.
func NewEmbeddings(model Embedder, provider string, store Store, count Count) *Embeddings {
	return &Embeddings{model: model, provider: provider, store: store, count: count, slots: make(chan struct{}, maxEmbeddings)}
}

// Query is a text to embed with a model.
type Query struct {
	embeddings  *Embeddings
	model, text string
	err         error
}

// Query returns a text to embed with a model. Nothing is embedded yet.
func (e *Embeddings) Query(model, text string) Query {
	return Query{embeddings: e, model: model, text: text}
}

// Failed returns a query that cannot be embedded.
func Failed(model string, err error) Query { return Query{model: model, err: err} }

// Model is the embedding model.
func (q Query) Model() string { return q.model }

// Vector returns the query's embedding, computed once for all concurrent callers.
func (q Query) Vector(ctx context.Context) (vector.Vector, error) {
	e := q.embeddings
	if q.err != nil || e.store == nil {
		return q.ask(ctx)
	}
	key, err := keyOf("embedding", e.provider, q.model, q.text)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(embeddingTime)
	if deadline, ok := ctx.Deadline(); ok && deadline.After(until) {
		until = deadline
	}
	made, origin, err := share(ctx, &e.running, key, until, func(ctx context.Context) (Made, Origin, error) {
		if value, found := e.store.Get(ctx, key); found && len(value) == 4*vector.Dimensions {
			return Made{Body: value}, Hit, nil
		}
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
		case <-ctx.Done():
			return Made{}, Passed, tooLate(ctx)
		}
		v, err := q.ask(ctx)
		if err != nil {
			return Made{}, Passed, err
		}
		value, err := binary.Append(nil, binary.LittleEndian, []float32(v))
		if err != nil {
			return Made{}, Passed, fmt.Errorf("encode an embedding: %w", err)
		}
		e.store.Set(ctx, key, value, embeddingLifetime)
		return Made{Body: value}, Stored, nil
	})
	if err != nil && ctx.Err() != nil {
		return nil, fault.Wrap(fault.Timeout, "The model provider did not answer in time.", err)
	}
	if err != nil {
		return nil, err
	}
	e.count("embedding", origin)
	v := make([]float32, vector.Dimensions)
	_, err = binary.Decode(made.Body, binary.LittleEndian, v)
	return v, err
}

func (q Query) ask(ctx context.Context) (vector.Vector, error) {
	if q.err != nil {
		return nil, q.err
	}
	vectors, _, err := q.embeddings.model.Embed(ctx, q.model, []string{q.text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}
