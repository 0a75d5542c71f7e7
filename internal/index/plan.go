package index

import (
	"crypto/sha256"
	"encoding/hex"

	"tasklens/internal/chunk"
	"tasklens/internal/vector"
)

// plan is what the chunks of one source are to become.
type plan struct {
	source Source
	hash   string // of the source's texts, as they were read
	chunks []planned
	stored []storedChunk
	model  string
	set    *int // that the chunks are of; nil leaves it to the database
}

// planned is one chunk to be: a stored one that is kept (chunkID not nil), or a new one that wants a vector.
type planned struct {
	text           string
	input          string
	inputHash      string
	inputTokens    int
	tokens         int // of text
	kind           string
	statusChangeID *int64
	chunkID        *string
	vector         vector.Vector
}

// newPlan chunks the texts of a source for a model, and finds the stored chunks that can stay: those of the same input and
// model, each used once. With force none stays.
func (x *Indexer) newPlan(source storedSource, model string, force bool) *plan {
	p := &plan{
		source: source.Source,
		hash:   source.SourceHash,
		stored: source.Chunks,
		model:  model,
		set:    source.Set.Number,
	}
	reusable := map[string][]string{}
	if !force {
		for _, stored := range source.Chunks {
			if stored.Model == model {
				reusable[stored.InputHash] = append(reusable[stored.InputHash], stored.ChunkID)
			}
		}
	}
	header := chunk.Header(x.tokenizer, source.Names...)
	// Counted once for all chunks: no token reaches over the blank line that ends it.
	headerTokens := len(x.tokenizer.Lengths(chunk.Input(header, "")))
	for _, text := range source.Texts {
		for _, piece := range chunk.Split(x.tokenizer, text.Text) {
			input := chunk.Input(header, piece.Text)
			sum := sha256.Sum256([]byte(input))
			next := planned{
				text: piece.Text, input: input, inputHash: hex.EncodeToString(sum[:]), inputTokens: headerTokens + piece.Tokens,
				tokens: piece.Tokens, kind: text.Kind, statusChangeID: text.StatusChangeID,
			}
			if same := reusable[next.inputHash]; len(same) > 0 {
				next.chunkID, reusable[next.inputHash] = &same[0], same[1:]
			}
			p.chunks = append(p.chunks, next)
		}
	}
	return p
}

// unchanged tells whether what is stored is what is planned, to the order.
func (p *plan) unchanged() bool {
	if len(p.stored) != len(p.chunks) {
		return false
	}
	for i, next := range p.chunks {
		if next.chunkID == nil || *next.chunkID != p.stored[i].ChunkID || !equal(next.statusChangeID, p.stored[i].StatusChangeID) {
			return false
		}
	}
	return true
}

// embedded tells whether all that is to be stored has its vector.
func (p *plan) embedded() bool {
	for _, next := range p.chunks {
		if next.chunkID == nil && next.vector == nil {
			return false
		}
	}
	return true
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// result tells what the plan did, once its chunks are stored under these ids.
func (p *plan) result(embeddingIDs []string) Result {
	result := Result{Source: p.source, Found: true, EmbeddingIDs: embeddingIDs, Model: p.model}
	for _, next := range p.chunks {
		if next.chunkID != nil {
			result.Reused++
		} else {
			result.Embedded++
		}
	}
	return result
}
