package answer

import (
	"cmp"
	"context"
	"time"

	"tasklens/internal/rpc"
	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// candidates is the number of chunks MMR chooses from.
const candidates = 40

// candidate is a row of retrieve_chunks.
type candidate struct {
	Source
	ProjectKey    string         `json:"project_key"`
	Status        *string        `json:"status"`
	Kind          string         `json:"kind"` // project, ticket, status_note, comment or document
	Tokens        int            `json:"tokens"`
	OverThreshold bool           `json:"over_threshold"`
	Named         bool           `json:"named"`        // the question names its source: a candidate whatever its similarity
	Fields        *search.Fields `json:"fields"`       // of a ticket
	WrittenAt     *time.Time     `json:"written_at"`   // of a comment, a note or a document
	NoteStatus    *string        `json:"note_status"`  // that a note set
	Similarities  []float64      `json:"similarities"` // to the preceding rows, in order

	place int // among the rows
	words wordSet
}

// sourceChunks limits the candidates of one ticket while others are available: half of the context,
// so a long ticket leaves room for others, but enough for a description, a cause and a resolution.
func sourceChunks(top int) int { return max(2, min(5, (top+1)/2)) }

// retrieve returns the rows for a question, best first.
func (a *Answerer) retrieve(ctx context.Context, db rpc.Caller, q Question, model string, embedding vector.Vector) (found []candidate, err error) {
	arguments := map[string]any{
		"question": q.Search, "query_embedding": embedding, "embedding_model": model, "match_threshold": q.MatchThreshold,
		"match_count": candidates, "corpus": cmp.Or(q.Corpus, Tickets), "filters": q.Filters,
	}
	if q.Lambda < 1 {
		arguments["source_chunk_limit"] = sourceChunks(q.TopK)
	}
	err = db.Call(ctx, "retrieve_chunks", arguments, &found)
	for i := range found {
		switch c := &found[i]; {
		case c.TicketID != nil:
			c.Type = "ticket"
		case c.DocumentID != nil:
			c.Type = "document"
		default:
			c.Type = "project"
		}
	}
	return found, err
}

// best is the highest similarity of all rows.
func best(found []candidate) *float64 {
	var best *float64
	for _, c := range found {
		if c.Similarity != nil && (best == nil || *c.Similarity > *best) {
			best = c.Similarity
		}
	}
	return best
}
