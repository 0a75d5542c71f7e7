package memo

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// embeddingLifetime is the cache lifetime of a query's embedding, which never goes stale.
const embeddingLifetime = 30 * 24 * time.Hour

const (
	// embeddingTime bounds one embedding of a query, however short its callers' deadlines are.
	embeddingTime = 30 * time.Second
	// maxLate bounds the embeddings that continue without a waiter.
	maxLate = 64
)

// Embedder embeds with any model of one provider.
type Embedder interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, tokens int, err error)
}

// Embeddings caches the embeddings of queries. An embedding that outlasts its callers' deadlines
// continues, within embeddingTime and maxLate, so that the next caller finds it cached. One whose
// callers were all cancelled ends. It is safe for concurrent use.
type Embeddings struct {
	model    Embedder
	provider string
	store    Store
	flights  flights
	counts   counters
}

// NewEmbeddings caches a provider's embeddings in a store; nil disables caching and sharing.
// provider separates equal model names of different providers.
func NewEmbeddings(model Embedder, provider string, store Store) *Embeddings {
	return &Embeddings{model: model, provider: provider, store: store, flights: newLateFlights(embeddingTime, maxLate)}
}

// embed returns the embedding of an input, computed once for all concurrent callers.
func (e *Embeddings) embed(ctx context.Context, model, input string) (vector.Vector, error) {
	if e.store == nil {
		return e.ask(ctx, model, input)
	}
	key, err := keyOf("embedding", e.provider, model, input)
	if err != nil {
		return nil, err
	}
	made, origin, err := e.flights.do(ctx, key, nil, func(ctx context.Context, _ func(Event) error) (Made, Origin, error) {
		if value, found := e.store.Get(ctx, key); found && len(value) == vectorBytes {
			return Made{Body: value}, Hit, nil
		}
		v, err := e.ask(ctx, model, input)
		if err != nil {
			return Made{}, Passed, err
		}
		value := encodeVector(v)
		e.store.Set(ctx, key, value, embeddingLifetime)
		return Made{Body: value}, Stored, nil
	})
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, tooLate(ctx)
	}
	if err != nil {
		return nil, err
	}
	e.counts.add("embedding", origin)
	return decodeVector(made.Body), nil
}

func (e *Embeddings) ask(ctx context.Context, model, input string) (vector.Vector, error) {
	vectors, _, err := e.model.Embed(ctx, model, []string{input})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Close ends the embeddings that nobody waits for.
func (e *Embeddings) Close() { e.flights.close() }

func tooLate(ctx context.Context) error {
	return fault.Wrap(fault.Timeout, "The model provider did not answer in time.", context.Cause(ctx))
}

// Counts returns the counts so far.
func (e *Embeddings) Counts() Counts { return e.counts.all()["embedding"] }

const vectorBytes = 4 * vector.Dimensions

func encodeVector(v vector.Vector) []byte {
	value := make([]byte, 0, vectorBytes)
	for _, x := range v {
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(x))
	}
	return value
}

func decodeVector(value []byte) vector.Vector {
	v := make(vector.Vector, vector.Dimensions)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(value[4*i:]))
	}
	return v
}
