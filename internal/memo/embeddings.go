package memo

import (
	"context"
	"encoding/binary"
	"time"

	"golang.org/x/sync/singleflight"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
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
	model   Embedder
	store   *Memory
	count   Count
	running singleflight.Group
	slots   chan struct{}
}

// NewEmbeddings caches a provider's embeddings in a store; nil disables caching and sharing.
func NewEmbeddings(model Embedder, store *Memory, count Count) *Embeddings {
	return &Embeddings{model: model, store: store, count: count, slots: make(chan struct{}, maxEmbeddings)}
}

// Query is a text to embed with a model.
type Query struct {
	embeddings  *Embeddings
	model, text string
}

// Query returns a text to embed with a model. Nothing is embedded yet.
func (e *Embeddings) Query(model, text string) Query {
	return Query{embeddings: e, model: model, text: text}
}

// Model is the embedding model.
func (q Query) Model() string { return q.model }

// Vector returns the query's embedding, computed once for all concurrent callers.
func (q Query) Vector(ctx context.Context) (vector.Vector, error) {
	e := q.embeddings
	if e.store == nil {
		return q.ask(ctx)
	}
	key, err := keyOf("embedding", q.model, q.text)
	if err != nil {
		return nil, err
	}
	began := e.running.DoChan(key, func() (any, error) {
		// For later callers too, so it does not end with this one.
		until := time.Now().Add(embeddingTime)
		if deadline, ok := ctx.Deadline(); ok && deadline.After(until) {
			until = deadline
		}
		ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
		defer cancel()
		var value []byte
		origin := Hit
		err := rescue.Do(func() (err error) {
			value, origin, err = q.find(ctx, key)
			return err
		})
		if err == nil {
			e.count("embedding", origin)
		}
		return value, err
	})
	select {
	case made := <-began:
		if made.Err != nil {
			return nil, made.Err
		}
		v := make([]float32, vector.Dimensions)
		_, err = binary.Decode(made.Val.([]byte), binary.LittleEndian, v)
		return v, err
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Timeout, "The model provider did not answer in time.", context.Cause(ctx))
	}
}

// find returns the stored form of the embedding: from the store, or from the model.
func (q Query) find(ctx context.Context, key string) (value []byte, origin Origin, err error) {
	e := q.embeddings
	if value, found := e.store.Get(key); found {
		return value, Hit, nil
	}
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return nil, Passed, fault.Wrap(fault.Timeout, "The model provider did not answer in time.", context.Cause(ctx))
	}
	v, err := q.ask(ctx)
	if err != nil {
		return nil, Passed, err
	}
	if value, err = binary.Append(nil, binary.LittleEndian, []float32(v)); err == nil {
		e.store.Set(key, value, embeddingLifetime)
	}
	return value, Stored, err
}

func (q Query) ask(ctx context.Context) (vector.Vector, error) {
	vectors, _, err := q.embeddings.model.Embed(ctx, q.model, []string{q.text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}
