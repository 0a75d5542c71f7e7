package querylog

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/search"
)

// What an entry is of.
const (
	kindQuery  = "query"
	kindSearch = "search"
)

// Outcomes beside those of answers (answer.Outcome).
const (
	Found    = "found"    // a search that has results
	Nothing  = "nothing"  // a search without any
	Degraded = "degraded" // a search of which a part could not run
	Failed   = "failed"   // no answer; Error says why
	Left     = "left"     // the client left before the answer was whole
)

// Entry is a question or a search, and what came of it. The caller sets what only it knows: AskedAt, RequestID, Cached,
// Streamed and Total.
type Entry struct {
	ID             uuid.UUID    `json:"query_id"` // made by Add
	AskedAt        time.Time    `json:"asked_at"`
	RequestID      string       `json:"request_id,omitempty"`
	Kind           string       `json:"kind"`
	Question       string       `json:"question"`
	Parameters     any          `json:"parameters"`
	Outcome        string       `json:"outcome"`
	Error          string       `json:"error,omitempty"` // a fault.Code: no message, which may hold what an upstream said
	Sources        []Source     `json:"sources"`
	BestSimilarity *float64     `json:"best_similarity"`
	Answer         string       `json:"answer,omitempty"`
	Model          string       `json:"model,omitempty"`
	LowSimilarity  bool         `json:"low_similarity"`    // nothing, or nothing that the operator holds for similar
	Ambiguous      bool         `json:"ambiguous"`         // the two most similar sources tie, and are of different projects
	Uncited        bool         `json:"uncited"`           // the model answered from sources and cited none
	Unknown        int          `json:"unknown_citations"` // citations that were taken out, because they name no source
	Cached         bool         `json:"cached"`
	Streamed       bool         `json:"streamed"`
	TokensIn       int          `json:"tokens_in"`
	TokensOut      int          `json:"tokens_out"`
	Embedding      Milliseconds `json:"embedding_ms,omitempty"` // 0 for a step that was not needed
	Retrieval      Milliseconds `json:"retrieval_ms,omitempty"`
	Chat           Milliseconds `json:"chat_ms,omitempty"`
	Total          Milliseconds `json:"total_ms"`
}

// Source is what an answer could draw on, or a search found; its text stands where it came from.
type Source struct {
	ProjectID  int64    `json:"project_id,omitempty"`  // 0 for a document, which is in none
	DocumentID *string  `json:"document_id,omitempty"` // nil for what is in the tracker
	TicketID   *int64   `json:"ticket_id"`
	TicketKey  *string  `json:"ticket_key"`
	ChunkID    *string  `json:"chunk_id,omitempty"`
	Similarity *float64 `json:"similarity"`
	Cited      bool     `json:"cited,omitempty"`
}

// Milliseconds is a duration that JSON shows as a number of milliseconds.
type Milliseconds time.Duration

// MarshalJSON writes milliseconds with their fractions.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(m) / float64(time.Millisecond))
}

type queryParameters struct {
	Corpus         answer.Corpus  `json:"corpus,omitempty"` // left out where it is the tickets
	ProjectID      *int64         `json:"project_id,omitempty"`
	StatusFilter   *string        `json:"status_filter,omitempty"`
	Filters        filter.Filters `json:"filters,omitzero"`
	TopK           int            `json:"top_k"`
	MatchThreshold float64        `json:"match_threshold"`
	Lambda         float64        `json:"mmr_lambda"`
	Retrieval      string         `json:"retrieval"`
}

// OfAnswer makes the entry of a question and its answer, or of how far it came before err. usual is the operator's
// threshold: what a request with a lower one found below it counts as little similar all the same.
func OfAnswer(q answer.Question, found answer.Answer, usual float64, err error) Entry {
	parameters := queryParameters{q.Corpus, q.ProjectID, q.StatusFilter, q.Filters, q.TopK, q.MatchThreshold, q.Lambda, "vector"}
	if q.Corpus == answer.Tickets {
		parameters.Corpus = ""
	}
	if q.Hybrid {
		parameters.Retrieval = "hybrid"
	}
	e := Entry{
		Kind: kindQuery, Question: q.Text, Parameters: parameters, Outcome: string(found.Outcome), Sources: []Source{},
		BestSimilarity: found.BestSimilarity, Answer: found.Text, Model: found.Model,
		Unknown: found.UnknownCitations, TokensIn: found.TokensIn, TokensOut: found.TokensOut,
		Embedding: Milliseconds(found.Embedding), Retrieval: Milliseconds(found.Retrieval), Chat: Milliseconds(found.Chat),
	}
	cited := false
	for _, s := range found.Sources {
		source := Source{DocumentID: s.DocumentID, TicketID: s.TicketID, TicketKey: s.TicketKey, ChunkID: s.ChunkID, Similarity: s.Similarity, Cited: s.Cited}
		if s.ProjectID != nil {
			source.ProjectID = *s.ProjectID
		}
		e.Sources = append(e.Sources, source)
		cited = cited || s.Cited
	}
	e.Uncited = len(e.Sources) > 0 && !cited && (found.Outcome == answer.Answered || found.Outcome == answer.CutOff)
	e.flag(found.LowSimilarity, usual, err)
	return e
}

type searchParameters struct {
	ProjectID      *int64         `json:"project_id,omitempty"`
	StatusFilter   *string        `json:"status_filter,omitempty"`
	Filters        filter.Filters `json:"filters,omitzero"`
	MatchThreshold float64        `json:"match_threshold"`
	Limit          int            `json:"limit"`
	Offset         int            `json:"offset"`
}

// OfSearch makes the entry of a search and its page, or of its failure.
func OfSearch(q search.Query, page search.Page, usual float64, err error) Entry {
	e := Entry{
		Kind: kindSearch, Question: cmp.Or(q.Typed, q.Text), Outcome: Found, Sources: []Source{},
		Parameters: searchParameters{q.ProjectID, q.StatusFilter, q.Filters, q.MatchThreshold, q.Limit, q.Offset},
	}
	for _, hit := range page.Hits {
		e.Sources = append(e.Sources, Source{ProjectID: hit.ProjectID, TicketID: hit.TicketID, TicketKey: hit.TicketKey, Similarity: hit.Similarity})
		if hit.Similarity != nil && (e.BestSimilarity == nil || *hit.Similarity > *e.BestSimilarity) {
			e.BestSimilarity = hit.Similarity
		}
	}
	switch {
	case len(page.Degraded) > 0:
		e.Outcome = Degraded
	case len(page.Hits) == 0 && q.Offset == 0: // behind the end of a list there is always nothing
		e.Outcome = Nothing
	}
	e.flag(false, usual, err)
	return e
}

// storable takes out the one character that Postgres cannot hold, or a model that says it would have all of a batch lost.
func (e Entry) storable() Entry {
	e.Answer, e.Model = strings.ReplaceAll(e.Answer, "\x00", ""), strings.ReplaceAll(e.Model, "\x00", "")
	return e
}
