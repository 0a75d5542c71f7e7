package memo

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"tasklens/internal/vector"
)

// embeddingLifetime is that of a query's embedding, which is never out of date.
const embeddingLifetime = 30 * 24 * time.Hour

// Embedder is a model that embeds.
type Embedder interface {
	Embed(ctx context.Context, inputs []string) (vectors []vector.Vector, tokens int, err error)
	EmbeddingModel() string
}

// Embeddings is an embedder that remembers what single inputs became: queries. It is safe for concurrent use.
type Embeddings struct {
	model    Embedder
	provider string
	store    Store
	counts   counters
}

// NewEmbeddings remembers a model's embeddings in a store. provider tells models of one name apart.
func NewEmbeddings(model Embedder, provider string, store Store) *Embeddings {
	return &Embeddings{model: model, provider: provider, store: store}
}

// EmbeddingModel is the name of the model.
func (e *Embeddings) EmbeddingModel() string { return e.model.EmbeddingModel() }

// Embed gives the embedding of each input. One that is remembered costs no tokens.
func (e *Embeddings) Embed(ctx context.Context, inputs []string) ([]vector.Vector, int, error) {
	if len(inputs) != 1 {
		return e.model.Embed(ctx, inputs)
	}
	key, err := keyOf("embedding", e.provider, e.EmbeddingModel(), inputs[0])
	if err != nil {
		return nil, 0, err
	}
	if value, found := e.store.Get(ctx, key); found {
		if embedding, is := decodeVector(value); is {
			e.counts.add("embedding", Hit)
			return []vector.Vector{embedding}, 0, nil
		}
	}
	vectors, tokens, err := e.model.Embed(ctx, inputs)
	if err != nil {
		return nil, 0, err
	}
	e.counts.add("embedding", Stored)
	e.store.Set(ctx, key, encodeVector(vectors[0]), embeddingLifetime)
	return vectors, tokens, nil
}

// Counts tells the queries so far.
func (e *Embeddings) Counts() Counts { return e.counts.all()["embedding"] }

func encodeVector(v vector.Vector) []byte {
	value := make([]byte, 0, 4*len(v))
	for _, x := range v {
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(x))
	}
	return value
}

func decodeVector(value []byte) (vector.Vector, bool) {
	if len(value) != 4*vector.Dimensions {
		return nil, false
	}
	v := make(vector.Vector, vector.Dimensions)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(value[4*i:]))
	}
	return v, true
}
