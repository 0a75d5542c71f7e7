// Package search finds tickets and projects by words and by meaning. Ranking is the database's: this package embeds
// the query, passes the filters and pages on, and goes on with words alone when the model cannot be asked.
package search

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/vector"
)

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model embeds queries.
type Model interface {
	Embed(ctx context.Context, inputs []string) (vectors []vector.Vector, tokens int, err error)
	EmbeddingModel() string
}

// Weights of the two rankings in the fused score; 1 each is plain reciprocal rank fusion.
type Weights struct {
	Vector  float64
	Keyword float64
}

// Searcher answers searches. It is safe for concurrent use.
type Searcher struct {
	model   Model
	weights Weights
	warn    func(ctx context.Context, message string, err error)
}

// New makes a searcher. warn is told when a search had to go on without the model.
func New(model Model, weights Weights, warn func(ctx context.Context, message string, err error)) *Searcher {
	return &Searcher{model: model, weights: weights, warn: warn}
}

// Query is one search.
type Query struct {
	Text           string
	ProjectID      *int64
	StatusFilter   *string
	MatchThreshold float64 // cosine similarity that the vector search must exceed, 0 to 1
	Limit          int
	Offset         int
}

// Hit is a ticket, or a project by its own text (Ticket… and Status nil).
type Hit struct {
	TicketID     *int64   `json:"ticket_id"`
	Text         string   `json:"text"`
	Similarity   *float64 `json:"similarity"` // nil where the vector search did not find it
	Source       string   `json:"source"`
	RRFScore     float64  `json:"rrf_score"`
	ProjectID    int64    `json:"project_id"`
	ProjectName  string   `json:"project_name"`
	TicketKey    *string  `json:"ticket_key"`
	TicketName   *string  `json:"ticket_name"`
	Status       *string  `json:"status"`
	VectorRank   *int64   `json:"vector_rank"`
	KeywordRank  *int64   `json:"keyword_rank"`
	KeywordScore *float64 `json:"keyword_score"`
	MatchedBy    []string `json:"matched_by"`
	// What each search adds to RRFScore: weight / (60 + rank), 0 where it did not find the hit.
	VectorContribution  float64 `json:"vector_contribution"`
	KeywordContribution float64 `json:"keyword_contribution"`
	Exact               bool    `json:"exact"`
	Highlight           string  `json:"highlight"`
}

// Page is a part of the list of hits.
type Page struct {
	Hits     []Hit
	HasMore  bool
	Executed []string // the searches that ran: vector, keyword
	Degraded []string // the searches that could not
	Weights  Weights
}

// Hybrid runs both searches and gives a page of the fused list. When the model cannot be asked, the words alone
// answer, and the page says so.
func (s *Searcher) Hybrid(ctx context.Context, db Database, q Query) (Page, error) {
	page := Page{Hits: []Hit{}, Executed: []string{"vector", "keyword"}, Weights: s.weights}
	var embedding vector.Vector
	vectors, err := s.embed(ctx, q.Text)
	switch {
	case err == nil:
		embedding = vectors[0]
	case ctx.Err() != nil:
		return Page{}, fmt.Errorf("embed query: %w", err)
	default:
		s.warn(ctx, "searching by keyword alone: the query could not be embedded", err)
		page.Executed, page.Degraded = []string{"keyword"}, []string{"vector"}
	}
	arguments := map[string]any{
		"query_text": q.Text, "embedding_model": s.model.EmbeddingModel(), "match_threshold": q.MatchThreshold,
		"match_count": q.Limit + 1, "match_offset": q.Offset, "project_filter": q.ProjectID, "status_filter": q.StatusFilter,
		"vector_weight": s.weights.Vector, "keyword_weight": s.weights.Keyword,
	}
	if embedding != nil {
		arguments["query_embedding"] = embedding
	}
	if err := db.Call(ctx, "search_hybrid", arguments, &page.Hits); err != nil {
		return Page{}, fmt.Errorf("search: %w", err)
	}
	if len(page.Hits) > q.Limit {
		page.Hits, page.HasMore = page.Hits[:q.Limit], true
	}
	return page, nil
}

// embed asks the model, for half of the time that is left at most: one that hangs must leave the words their turn.
func (s *Searcher) embed(ctx context.Context, text string) ([]vector.Vector, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	vectors, _, err := s.model.Embed(ctx, []string{text})
	return vectors, err
}

// Project and Status are what a search can be narrowed to.
type Project struct {
	ProjectID int64  `json:"project_id"`
	Key       string `json:"key"`
	Name      string `json:"name"`
	Tickets   int64  `json:"tickets"`
}

// Status is a state that tickets can be in.
type Status struct {
	StatusID int64  `json:"status_id"`
	Name     string `json:"name"`
}

// Projects lists all projects by key.
func Projects(ctx context.Context, db Database) ([]Project, error) {
	rows := []Project{}
	err := db.Call(ctx, "list_projects", nil, &rows)
	return rows, err
}

// Statuses lists all statuses, in the order they were made.
func Statuses(ctx context.Context, db Database) ([]Status, error) {
	rows := []Status{}
	err := db.Call(ctx, "list_statuses", nil, &rows)
	return rows, err
}
