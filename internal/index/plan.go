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
	place  int    // among the sources of a run
	hash   string // of the source's texts, as they were read
	chunks []planned
	stored []storedChunk // staged ones too
	model  string
	set    *int // that the chunks are of; nil leaves it to the database
	state  state
}

// state is what became of a plan.
type state int

const (
	waiting  state = iota
	outdated       // its source changed, or somebody else is writing it: it is to be read again
	ended          // stored, or failed
)

// planned is one chunk to be: a stored or staged one that is kept (chunkID not nil), or a new one
// that wants a vector.
type planned struct {
	text           string
	input          string
	inputHash      string
	inputTokens    int
	tokens         int // of text
	kind           string
	statusChangeID *int64
	chunkID        *string
	staged         bool
	position       int64
	moved          bool // a kept one: it gets another position, or is another note's
	vector         vector.Vector
	made           bool // by this run
}

// newPlan chunks the texts of a source for a model, and finds the stored chunks that can stay:
// those of the same input and model, each used once. With force none stays but staged ones, which
// are paid for and were never shown.
func (x *Indexer) newPlan(source storedSource, model string, force bool) *plan {
	p := &plan{
		source: source.Source,
		hash:   source.SourceHash,
		stored: source.Chunks,
		model:  model,
		set:    source.Set.Number,
	}
	reusable := map[string][]*storedChunk{}
	for _, staged := range []bool{false, true} {
		for i, stored := range source.Chunks {
			if stored.Model == model && stored.Staged == staged && (staged || !force) {
				reusable[stored.InputHash] = append(reusable[stored.InputHash], &source.Chunks[i])
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
				stored := same[0]
				reusable[next.inputHash] = same[1:]
				next.chunkID, next.staged, next.position = &stored.ChunkID, stored.Staged, stored.Position
				next.moved = !equal(next.statusChangeID, stored.StatusChangeID)
			}
			p.chunks = append(p.chunks, next)
		}
	}
	p.setPlaces()
	return p
}

// unchanged tells whether what is stored is what is planned, to the order.
func (p *plan) unchanged() bool {
	for _, next := range p.chunks {
		if next.chunkID == nil || next.staged || next.moved {
			return false
		}
	}
	shown := 0
	for _, stored := range p.stored {
		if !stored.Staged {
			shown++
		}
	}
	return shown == len(p.chunks)
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

// ids are those of the chunks, all of which are stored.
func (p *plan) ids() []string {
	ids := make([]string, len(p.chunks))
	for i, next := range p.chunks {
		ids[i] = *next.chunkID
	}
	return ids
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// finish notes what a plan did, once its chunks are stored under these ids.
func (r *run) finish(p *plan, embeddingIDs []string) {
	p.state, r.slow = ended, 0
	result := &r.results[p.place]
	// Tokens were counted on the way.
	*result = Result{Source: p.source, Found: true, Done: true, EmbeddingIDs: embeddingIDs, Model: p.model, Tokens: result.Tokens}
	for i := range p.chunks {
		next := &p.chunks[i]
		if _, made := r.made[p.model+next.inputHash]; next.made || next.staged && made {
			result.Embedded++
		} else {
			result.Reused++
		}
		next.vector = nil
	}
	for _, next := range p.chunks {
		delete(r.made, p.model+next.inputHash)
	}
}
