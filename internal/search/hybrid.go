package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/filter"
	"tasklens/internal/rescue"
)

// Query is one search. Without text it lists what passes its filters.
type Query struct {
	Text           string
	ProjectID      *int64
	StatusFilter   *string
	MatchThreshold float64 // exclusive minimum of the cosine similarity in vector search, 0 to 1
	Limit          int
	Offset         int
	Fusion         string // RRF (default) or Convex
	Retrieval      string // Both (default) or KeywordOnly
	Filters        filter.Filters
	Sort           string // Relevance (default), Newest or Updated
	Facets         bool   // also counts the matches of each filter value
	Typed          string `json:"-"` // the input that Text and Filters were parsed from, for the query log
}

// Listed is the source of a hit that no search found: it passes the filters.
const Listed = "filters"

// Hit is a ticket, or a project by its own text (then the Ticket fields and Status are nil).
type Hit struct {
	CommentColumns
	TicketID     *int64   `json:"ticket_id"`
	Text         string   `json:"text"`
	Similarity   *float64 `json:"similarity"` // nil if vector search did not find it
	Source       string   `json:"source"`     // vector, keyword, or Listed
	RRFScore     float64  `json:"rrf_score"`
	FusedScore   float64  `json:"fused_score"` // the sort key: RRFScore, or the convex score
	ProjectID    int64    `json:"project_id"`
	ProjectName  string   `json:"project_name"`
	TicketKey    *string  `json:"ticket_key"`
	TicketName   *string  `json:"ticket_name"`
	Status       *string  `json:"status"`
	VectorRank   *int64   `json:"vector_rank"`
	KeywordRank  *int64   `json:"keyword_rank"`
	KeywordScore *float64 `json:"keyword_score"`
	MatchedBy    []string `json:"matched_by"`
	// What each search adds to FusedScore; 0 if it did not find the hit.
	VectorContribution  float64 `json:"vector_contribution"`
	KeywordContribution float64 `json:"keyword_contribution"`
	Exact               bool    `json:"exact"`
	Highlight           string  `json:"highlight"`
	HasMore             bool    `json:"has_more"` // more hits follow this page; the same in each row
	Relaxed             bool    `json:"relaxed"`  // quoted phrases count as words; the same in each row
	Details
}

// Details are the remaining fields of a ticket. A project has only the times.
type Details struct {
	Assignee       *string    `json:"assignee"`
	Reporter       *string    `json:"reporter"`
	Type           *string    `json:"ticket_type"`
	Priority       *string    `json:"priority"`
	Labels         []string   `json:"labels"`
	DueDate        *string    `json:"due_date"` // 2025-03-01
	CreatedAt      *time.Time `json:"created_at"`
	UpdatedAt      *time.Time `json:"updated_at"`
	StatusCategory *string    `json:"status_category"` // to_do, in_progress or done
	Links          []Link     `json:"links"`
}

// Link is a link to another ticket that the caller may see.
type Link struct {
	Kind       string `json:"kind"`      // duplicates, blocks, relates_to or child_of
	Direction  string `json:"direction"` // out: as Kind reads, from the result to the other; in: the reverse
	TicketKey  string `json:"ticket_key"`
	TicketName string `json:"ticket_name"`
	Status     string `json:"status"`
}

// Page is a part of the list of hits.
type Page struct {
	Hits     []Hit
	HasMore  bool
	Executed []string // searches that ran: vector, keyword
	Degraded []string // searches that could not run
	Relaxed  []string // requirements of the query that nothing meets: phrase
	Weights  Weights
	Facets   *Facets // nil unless requested
}

// narrow adds filters to the arguments of a function, or leaves the argument out if there are none.
func narrow(arguments map[string]any, filters filter.Filters) map[string]any {
	if !filters.IsZero() {
		arguments["filters"] = filters
	}
	return arguments
}

// Hybrid runs both searches and returns a page of the fused list. If the embedding fails or takes
// longer than hybridBudget, only keyword search answers, and Degraded says so. With KeywordOnly
// nothing is embedded. Facets are counted concurrently over the same matches.
func (s *Searcher) Hybrid(ctx context.Context, db Database, q Query, embedding Embedding) (Page, error) {
	page := Page{Hits: []Hit{}, Executed: []string{"vector", "keyword"}, Weights: s.weights}
	matching := narrow(map[string]any{
		"query_text": q.Text, "embedding_model": embedding.Model(), "match_threshold": q.MatchThreshold,
		"project_filter": q.ProjectID, "status_filter": q.StatusFilter,
	}, q.Filters)
	switch {
	case q.Filters.Nothing:
		page.Executed = []string{}
		if q.Facets {
			page.Facets = &Facets{}
		}
		return page, nil
	case q.Text == "":
		page.Executed, matching["query_text"] = []string{}, nil // null asks for everything that passes the filters
		return s.fill(ctx, db, q, matching, page)
	case q.Retrieval == KeywordOnly:
		page.Executed = []string{"keyword"}
		return s.fill(ctx, db, q, matching, page)
	}
	vector, err := inTime(ctx, embedding)
	switch {
	case err == nil:
		matching["query_embedding"] = vector
	case ctx.Err() != nil:
		return Page{}, fmt.Errorf("embed query: %w", err)
	default:
		s.warn(ctx, "searching by keyword alone: the query could not be embedded", err)
		page.Executed, page.Degraded = []string{"keyword"}, []string{"vector"}
	}
	return s.fill(ctx, db, q, matching, page)
}

// fill lists the hits of the page and counts its facets, concurrently.
func (s *Searcher) fill(ctx context.Context, db Database, q Query, matching map[string]any, page Page) (Page, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return rescue.Do(func() error {
			if q.Text == "" {
				return list(ctx, db, q, &page)
			}
			return s.rank(ctx, db, q, maps.Clone(matching), &page)
		})
	})
	if q.Facets {
		group.Go(func() error {
			return rescue.Do(func() (err error) {
				page.Facets, err = countFacets(ctx, db, matching)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return Page{}, err
	}
	return page, nil
}

// list fills the page with the tickets that pass the filters.
func list(ctx context.Context, db Database, q Query, page *Page) error {
	arguments := narrow(map[string]any{
		"match_count": q.Limit, "match_offset": q.Offset, "project_filter": q.ProjectID, "status_filter": q.StatusFilter, "sort": q.Sort,
	}, q.Filters)
	if err := db.Call(ctx, "list_tickets", arguments, &page.Hits); err != nil {
		return fmt.Errorf("list tickets: %w", err)
	}
	page.HasMore = len(page.Hits) > 0 && page.Hits[0].HasMore
	for i := range page.Hits {
		page.Hits[i].Source, page.Hits[i].MatchedBy = Listed, []string{}
	}
	return nil
}

// rank fills the page with its hits, best first.
func (s *Searcher) rank(ctx context.Context, db Database, q Query, arguments map[string]any, page *Page) error {
	arguments["match_count"], arguments["match_offset"], arguments["fusion"] = q.Limit, q.Offset, cmp.Or(q.Fusion, RRF)
	arguments["vector_weight"], arguments["keyword_weight"] = s.weights.Vector, s.weights.Keyword
	if sort := cmp.Or(q.Sort, Relevance); sort != Relevance {
		arguments["sort"] = sort
	}
	if err := db.Call(ctx, "search_hybrid", arguments, &page.Hits); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if len(page.Hits) > 0 {
		page.HasMore = page.Hits[0].HasMore
		if page.Hits[0].Relaxed {
			page.Relaxed = []string{"phrase"}
		}
	}
	return nil
}
