package index

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"tasklens/internal/chunk"
)

// plan is the intended state of one source's chunks.
type plan struct {
	source    storedSource
	result    *Result
	chunks    []planned
	truncated bool // the end of the texts has no chunk
	cut       bool // the model did not take the end of a chunk that is kept
	model     string

	// The cost of storing it: new and moved chunks, and bytes.
	rows, bytes int
}

// planned is one intended chunk: a stored one that is kept (chunkID not nil), or a new one that
// needs a vector.
type planned struct {
	text           string
	input          string
	inputHash      string
	inputTokens    int
	tokens         int // of text
	kind           string
	statusChangeID *int64
	chunkID        *string
	position       int64
	moved          bool // a kept chunk that changes position or belongs to another note
	embedded            // of a new one, once it is
}

// mostChunks bounds a source, because it is stored in one call: about 40 MB and, at 25 ms a chunk,
// 50 s. 200,000 characters of English have 150 chunks, of Chinese 1,100; only tickets with very
// many long notes have more. Chunks beyond it are not indexed, and the source is
// marked as truncated.
const mostChunks = 2000

// cutMark ends the stored input_hash of a chunk whose end the model did not take.
const cutMark = " cut"

// newPlan chunks the texts of a source for a model and finds the stored chunks to keep: those with
// the same input and model, each used once. With force none is kept.
func (x *Indexer) newPlan(source storedSource, model string, force bool) *plan {
	p := &plan{source: source, truncated: source.Truncated, model: model}
	reusable := map[string][]*storedChunk{}
	for i, stored := range source.Chunks {
		if stored.Model == model && !force {
			hash := strings.TrimSuffix(stored.InputHash, cutMark)
			reusable[hash] = append(reusable[hash], &source.Chunks[i])
		}
	}
	header := chunk.Header(x.tokenizer, source.Names...)
	// Counted once for all chunks: no token crosses the blank line at its end.
	headerTokens := len(x.tokenizer.Lengths(chunk.Input(header, "")))
	for _, text := range source.Texts {
		for _, piece := range chunk.Split(x.tokenizer, text.Text) {
			if len(p.chunks) == mostChunks {
				p.truncated = true
				break
			}
			input := chunk.Input(header, piece.Text)
			sum := sha256.Sum256([]byte(input))
			next := planned{
				text: piece.Text, input: input, inputHash: hex.EncodeToString(sum[:]), inputTokens: headerTokens + piece.Tokens,
				tokens: piece.Tokens, kind: text.Kind, statusChangeID: text.StatusChangeID,
			}
			if same := reusable[next.inputHash]; len(same) > 0 {
				stored := same[0]
				reusable[next.inputHash] = same[1:]
				next.chunkID, next.position = &stored.ChunkID, stored.Position
				next.moved = !equal(next.statusChangeID, stored.StatusChangeID)
				p.cut = p.cut || strings.HasSuffix(stored.InputHash, cutMark)
			}
			p.chunks = append(p.chunks, next)
		}
	}
	setPlaces(p.chunks)
	for _, next := range p.chunks {
		switch {
		case next.chunkID == nil:
			p.rows, p.bytes = p.rows+1, p.bytes+newBytes+len(next.text)
		case next.moved:
			p.rows, p.bytes = p.rows+1, p.bytes+movedBytes
		default:
			p.bytes += keptBytes
		}
	}
	return p
}

// unchanged reports whether the stored chunks equal the planned ones, order and mark included.
func (p *plan) unchanged() bool {
	return p.rows == 0 && len(p.source.Chunks) == len(p.chunks) && p.source.StoredTruncated == p.isTruncated()
}

// isTruncated reports whether search lacks the end of a text.
func (p *plan) isTruncated() bool {
	return p.truncated || p.cut || slices.ContainsFunc(p.chunks, func(c planned) bool { return c.cut })
}

// embedded reports whether every new chunk has its vector.
func (p *plan) embedded() bool {
	return !slices.ContainsFunc(p.chunks, func(c planned) bool { return c.chunkID == nil && c.vector == nil })
}

// large reports whether a source is to be stored alone.
func (p *plan) large() bool { return p.rows > storeRows || p.bytes > storeBytes }

// ids returns the ids of the chunks, all of which are stored.
func (p *plan) ids() []string {
	ids := make([]string, len(p.chunks))
	for i, next := range p.chunks {
		ids[i] = *next.chunkID
	}
	return ids
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
