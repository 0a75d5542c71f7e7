package querylog

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"tasklens/internal/answer"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/search"
)

// Kinds of entries.
const (
	kindQuery  = "query"
	kindSearch = "search"
)

// Outcomes in addition to those of answers (answer.Outcome).
const (
	Found    = "found"    // a search with results
	Nothing  = "nothing"  // a search without results
	Degraded = "degraded" // a search of which one part failed
	Failed   = "failed"   // an error; see Error
	Left     = "left"     // the client disconnected before the answer was complete
)

// Entry is a question or a search, with its result. The caller sets the fields that only it knows:
// AskedAt, RequestID, Cached, Streamed and Total.
type Entry struct {
	ID             uuid.UUID    `json:"query_id"` // set when it is written
	AskedAt        time.Time    `json:"asked_at"`
	RequestID      string       `json:"request_id,omitempty"`
	Kind           string       `json:"kind"`
	Question       string       `json:"question"`
	Parameters     any          `json:"parameters"`
	Outcome        string       `json:"outcome"`
	Error          string       `json:"error,omitempty"` // a fault.Code; no message, because that may quote an upstream
	Sources        []Result     `json:"sources"`
	BestSimilarity *float64     `json:"best_similarity"`
	Answer         string       `json:"answer,omitempty"`
	Model          string       `json:"model,omitempty"`
	LowSimilarity  bool         `json:"low_similarity"`    // no result at or above the operator's threshold
	Ambiguous      bool         `json:"ambiguous"`         // the two most similar sources tie and belong to different projects
	Uncited        bool         `json:"uncited"`           // the model answered from sources without citing any
	Unknown        int          `json:"unknown_citations"` // brackets that look like citations and name no source
	Cached         bool         `json:"cached"`
	Streamed       bool         `json:"streamed"`
	TokensIn       int          `json:"tokens_in"`
	TokensOut      int          `json:"tokens_out"`
	Embedding      Milliseconds `json:"embedding_ms,omitempty"` // 0 if the step was skipped
	Retrieval      Milliseconds `json:"retrieval_ms,omitempty"`
	Chat           Milliseconds `json:"chat_ms,omitempty"`
	Total          Milliseconds `json:"total_ms"`
}

// Result is a source of an answer or a hit of a search, without its text.
type Result struct {
	ProjectID  int64    `json:"project_id,omitempty"`  // 0 for a document, which belongs to no project
	DocumentID *string  `json:"document_id,omitempty"` // nil for a ticket or a project
	TicketID   *int64   `json:"ticket_id"`
	TicketKey  *string  `json:"ticket_key"`
	ChunkID    *string  `json:"chunk_id,omitempty"`
	Similarity *float64 `json:"similarity"`
	Cited      bool     `json:"cited,omitempty"`
}

// Milliseconds is a duration that JSON encodes as milliseconds.
type Milliseconds time.Duration

// MarshalJSON writes milliseconds with a fraction.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(m) / float64(time.Millisecond))
}

type queryParameters struct {
	Corpus         answer.Corpus  `json:"corpus,omitempty"` // omitted for tickets
	Filters        filter.Filters `json:"filters,omitempty"`
	TopK           int            `json:"top_k"`
	MatchThreshold *float64       `json:"match_threshold"`
	Lambda         float64        `json:"mmr_lambda"`
	Retrieval      string         `json:"retrieval"`
}

// OfAnswer returns the entry for a question and its answer, or for what was done before err. usual
// is the operator's threshold: results below it count as low similarity even if the request set a
// lower one.
func OfAnswer(q answer.Question, found answer.Answer, usual float64, err error) Entry {
	parameters := queryParameters{q.Corpus, q.Filters, q.TopK, q.MatchThreshold, q.Lambda, cmp.Or(q.Retrieval, "vector")}
	if q.Corpus == answer.Tickets {
		parameters.Corpus = ""
	}
	e := Entry{
		Kind: kindQuery, Question: q.Text, Parameters: parameters, Outcome: string(found.Outcome), Sources: []Result{},
		BestSimilarity: found.BestSimilarity, Answer: found.Text, Model: found.Model,
		Unknown: found.UnknownCitations, TokensIn: found.TokensIn, TokensOut: found.TokensOut,
		Embedding: Milliseconds(found.Embedding), Retrieval: Milliseconds(found.Retrieval), Chat: Milliseconds(found.Chat),
	}
	cited := false
	for _, s := range found.Sources {
		source := Result{DocumentID: s.DocumentID, TicketID: s.TicketID, TicketKey: s.TicketKey, ChunkID: s.ChunkID, Similarity: s.Similarity, Cited: s.Cited}
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
	Filters        filter.Filters `json:"filters,omitempty"`
	MatchThreshold *float64       `json:"match_threshold"`
	Limit          int            `json:"limit"`
	Offset         int            `json:"offset"`
}

// OfSearch returns the entry for a search and its page, or for its error.
func OfSearch(q search.Query, page search.Page, usual float64, err error) Entry {
	e := Entry{
		Kind: kindSearch, Question: cmp.Or(q.Typed, q.Text), Outcome: Found, Sources: []Result{},
		Parameters: searchParameters{q.Filters, q.MatchThreshold, q.Limit, q.Offset},
	}
	for _, hit := range page.Hits {
		e.Sources = append(e.Sources, Result{ProjectID: hit.ProjectID, TicketID: hit.TicketID, TicketKey: hit.TicketKey, Similarity: hit.Similarity})
		if hit.Similarity != nil && (e.BestSimilarity == nil || *hit.Similarity > *e.BestSimilarity) {
			e.BestSimilarity = hit.Similarity
		}
	}
	switch {
	case len(page.Degraded) > 0:
		e.Outcome = Degraded
	case len(page.Hits) == 0 && q.Offset == 0: // a page past the end is always empty
		e.Outcome = Nothing
	}
	e.flag(false, usual, err)
	return e
}

// tie is the difference below which two cosines count as equal. Re-embedding the same text after a
// rename moves them as much.
const tie = 0.01

// flag sets what follows from sources and similarities. low is the answer's own verdict of low
// similarity. A tie between projects is ambiguous: the question may have meant either.
func (e *Entry) flag(low bool, usual float64, err error) {
	if err != nil {
		e.Outcome, e.Error = Failed, string(fault.CodeOf(err))
		return
	}
	compared := slices.DeleteFunc(slices.Clone(e.Sources), func(s Result) bool { return s.Similarity == nil })
	slices.SortStableFunc(compared, func(a, b Result) int { return cmp.Compare(*b.Similarity, *a.Similarity) })
	e.LowSimilarity = low || len(compared) == 0 || *compared[0].Similarity <= usual
	if len(compared) > 1 {
		first, second := compared[0], compared[1]
		ofProjects := first.ProjectID != 0 && second.ProjectID != 0 // a document is of none
		e.Ambiguous = ofProjects && first.ProjectID != second.ProjectID && *first.Similarity-*second.Similarity <= tie
	}
}
