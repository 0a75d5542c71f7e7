package search

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/rescue"
	"tasklens/internal/vector"
)

// Query is one search.
type Query struct {
	Text           string
	ProjectID      *int64
	StatusFilter   *string
	MatchThreshold float64 // cosine similarity that the vector search must exceed, 0 to 1
	Limit          int
	Offset         int
	Fusion         string // RRF, also where it is empty, or Convex
	Retrieval      string // Both, also where it is empty, or KeywordOnly
	Facets         bool   // also counts what each status and each project has
	// Unembedded is why the query cannot be embedded, nil where it can: then its words alone are searched.
	Unembedded error `json:"-"`
}

// Hit is a ticket, or a project by its own text (Ticket… and Status nil).
type Hit struct {
	TicketID     *int64   `json:"ticket_id"`
	Text         string   `json:"text"`
	Similarity   *float64 `json:"similarity"` // nil where the vector search did not find it
	Source       string   `json:"source"`
	RRFScore     float64  `json:"rrf_score"`
	FusedScore   float64  `json:"fused_score"` // orders the list: RRFScore, or the convex score
	ProjectID    int64    `json:"project_id"`
	ProjectName  string   `json:"project_name"`
	TicketKey    *string  `json:"ticket_key"`
	TicketName   *string  `json:"ticket_name"`
	Status       *string  `json:"status"`
	VectorRank   *int64   `json:"vector_rank"`
	KeywordRank  *int64   `json:"keyword_rank"`
	KeywordScore *float64 `json:"keyword_score"`
	MatchedBy    []string `json:"matched_by"`
	// What each search adds to FusedScore, 0 where it did not find the hit.
	VectorContribution  float64 `json:"vector_contribution"`
	KeywordContribution float64 `json:"keyword_contribution"`
	Exact               bool    `json:"exact"`
	Highlight           string  `json:"highlight"`
	HasMore             bool    `json:"has_more"` // whether others follow the page, the same in each
	Relaxed             bool    `json:"relaxed"`  // whether the quoted phrases count as words, the same in each
}

// Page is a part of the list of hits.
type Page struct {
	Hits     []Hit
	HasMore  bool
	Executed []string // the searches that ran: vector, keyword
	Degraded []string // the searches that could not
	Relaxed  []string // what the query requires and nothing holds: phrase
	Weights  Weights
	Facets   *Facets // nil unless asked for
}

// Hybrid runs both searches and gives a page of the fused list. When the model fails, or takes longer than hybridBudget,
// keyword search answers alone, and the page says so. With KeywordOnly the model is not called.
func (s *Searcher) Hybrid(ctx context.Context, db Database, q Query) (Page, error) {
	page := Page{Hits: []Hit{}, Executed: []string{"vector", "keyword"}, Weights: s.weights}
	var embedding vector.Vector
	if q.Retrieval == KeywordOnly {
		page.Executed = []string{"keyword"}
		return s.fill(ctx, db, q, nil, nil, page)
	}
	ranking, err := RankWhile(ctx, db, Words{q.Text, q.ProjectID, q.StatusFilter}, func(ctx context.Context) error {
		if q.Unembedded != nil {
			return q.Unembedded
		}
		var err error
		embedding, err = s.embed(ctx, q.Text)
		return err
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return Page{}, fmt.Errorf("embed query: %w", err)
	default:
		s.warn(ctx, "searching by keyword alone: the query could not be embedded", err)
		page.Executed, page.Degraded = []string{"keyword"}, []string{"vector"}
	}
	return s.fill(ctx, db, q, embedding, ranking, page)
}

// fill lists the page's hits and counts its facets, at the same time.
func (s *Searcher) fill(ctx context.Context, db Database, q Query, embedding vector.Vector, ranking *Ranking, page Page) (Page, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return rescue.Do(func() error { return s.list(ctx, db, q, embedding, ranking, &page) })
	})
	if q.Facets {
		group.Go(func() error {
			return rescue.Do(func() (err error) {
				page.Facets, err = s.facets(ctx, db, q, embedding)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return Page{}, err
	}
	return page, nil
}

// list fills the page with its hits.
func (s *Searcher) list(ctx context.Context, db Database, q Query, embedding vector.Vector, ranking *Ranking, page *Page) error {
	arguments := s.arguments(ctx, q, embedding)
	if ranking != nil {
		arguments["keyword_ranking"] = ranking
	}
	arguments["match_count"], arguments["match_offset"], arguments["fusion"] = q.Limit, q.Offset, cmp.Or(q.Fusion, RRF)
	arguments["vector_weight"], arguments["keyword_weight"] = s.weights.Vector, s.weights.Keyword
	if err := db.Call(ctx, "search_hybrid", arguments, &page.Hits); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if len(page.Hits) > 0 {
		page.HasMore = page.Hits[0].HasMore
		if page.Hits[0].Relaxed {
			page.Relaxed = []string{"phrase"}
		}
		if page.Hits[0].Source == "" { // all of the page has just gone
			page.Hits = page.Hits[:0]
		}
	}
	return nil
}

// arguments are those that say what matches; without an embedding, what the words match.
func (s *Searcher) arguments(ctx context.Context, q Query, embedding vector.Vector) map[string]any {
	arguments := map[string]any{
		"query_text": q.Text, "embedding_model": s.model.EmbeddingModel(ctx), "match_threshold": q.MatchThreshold,
		"project_filter": q.ProjectID, "status_filter": q.StatusFilter,
	}
	if embedding != nil {
		arguments["query_embedding"] = embedding
	}
	return arguments
}

// embed asks the model for hybridBudget, and for half of the time that is left at most: keyword search must have its turn.
func (s *Searcher) embed(ctx context.Context, text string) (vector.Vector, error) {
	budget := hybridBudget
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(deadline)/2)
	}
	return embed(ctx, s.model, text, budget)
}
