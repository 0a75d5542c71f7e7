package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/filter"
	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
)

// Query is one search. Without text it lists what passes its filters.
type Query struct {
	Text           string         `json:"query" maxlen:"2000" example:"Find UX bugs in Project X" doc:"Words, a question or a ticket's key, and filters such as ~is:open~. May be empty if there are ~filters~."`
	Filters        filter.Filters `json:"filters" default:""`
	Sort           string         `json:"sort" enum:"relevance,newest,updated" default:"relevance" doc:"By ~fused_score~, or by ~created_at~ or ~updated_at~, the latest first. Without a text to search for, ~relevance~ is ~newest~."`
	Limit          int            `json:"limit" min:"1" max:"100" default:"10"`
	Offset         int            `json:"offset" min:"0" max:"999" default:"0" doc:"At most 1,000 together with ~limit~."`
	MatchThreshold *float64       `json:"match_threshold" min:"0" max:"1" example:"0.7" doc:"The similarity that a text must exceed; by default the operator's, else that measured for the model."`
	Fusion         string         `json:"fusion" enum:"rrf,convex" default:"" doc:"How two lists become one: by ranks or by scores; by default the operator's (~FUSION~), else ~rrf~."`
	Retrieval      string         `json:"retrieval" enum:"hybrid,keyword" default:"hybrid" doc:"~keyword~ runs keyword search alone, for use while a user types: the last word may be unfinished, and nothing is embedded, cached, or logged."`
	Explain        bool           `json:"explain" default:"false" doc:"Adds ~explain~ to every result."`
	Facets         bool           `json:"facets" default:"false" doc:"Adds ~facets~ to the response."`
	Typed          string         `json:"-"` // the input that Text and Filters were parsed from, for the query log
}

// Page is a part of the list of hits.
type Page struct {
	Hits           []Hit              `json:"results" max:"100"`
	HasMore        bool               `json:"has_more" doc:"Another page follows."`
	MatchThreshold float64            `json:"match_threshold" min:"0" max:"1" example:"0.31" doc:"The threshold that was applied."`
	Fusion         string             `json:"fusion" enum:"rrf,convex" doc:"The fusion that was applied."`
	Retrieval      string             `json:"retrieval" enum:"hybrid,keyword" doc:"The retrieval that was asked for."`
	EmbeddingModel string             `json:"embedding_model,omitempty" example:"text-embedding-3-small" doc:"The model that embedded the query; absent where no vectors were compared."`
	Cached         bool               `json:"cached" doc:"Comes from the cache; nothing that it depends on has changed."`
	Facets         Facets             `json:"facets,omitempty" doc:"How many matches have each value, by filter (~status~, ~project~, ~assignee~, ~label~, ~open~ …), the largest first. A facet ignores its own filter. Facets of what no match has are absent, except ~status~ and ~project~."`
	FacetsCapped   bool               `json:"facets_capped,omitempty" doc:"There are more than the 10,000 matches counted for each facet, or the 1,000 values listed."`
	Executed       []string           `json:"executed" max:"2" enum:"vector,keyword" example:"[\"vector\", \"keyword\"]" doc:"The searches that ran."`
	Degraded       []string           `json:"degraded,omitempty" min:"1" max:"1" enum:"vector" doc:"The searches that failed or ran out of time."`
	UnknownKeys    []string           `json:"unknown_keys,omitempty" min:"1" example:"[\"TX-99999\"]" doc:"Keys in the query that no ticket has, of projects that exist."`
	Candidates     []filter.Candidate `json:"candidates,omitempty" min:"1" doc:"Names in filters that nothing has. Typed in the query, one means the one value that it is near to (~read_as~), or its filter is text beside other words; those of ~filters~ are listed if there are no results."`
	NotRead        []NotRead          `json:"not_read,omitempty" min:"1" max:"10" doc:"What in the query looks like the language of another tracker and is not read: a filter counts as words, an order and an OR do not count."`
	Ignored        []string           `json:"ignored,omitempty" min:"1" example:"[\"🦄\"]" doc:"What of the query no text contains and no search can use: signs, and common words where there are no others."`
	Corrected      []Correction       `json:"corrected,omitempty" min:"1" max:"32" doc:"Words that no text contains, and the similar ones that count instead. A word in quotes is searched for as typed."`
	Languages      []string           `json:"languages,omitempty" min:"2" max:"4" example:"[\"english\", \"german\"]" doc:"The languages in which the query was read, if they are several: those of the projects that are searched, the four with most tickets at most."`
	Excluded       []string           `json:"-"` // what the query leaves out
	Partial        bool               `json:"-"` // something failed, and may succeed next time
	Relaxed        []string           `json:"relaxed,omitempty" min:"1" max:"1" enum:"phrase" doc:"Quoted phrases that no text contains and whose words count instead."`
}

// NotRead is a part of a query that looks like a filter or an order and is neither.
type NotRead struct {
	_ struct{} `schema:"NotRead"`

	Text    string  `json:"text" example:"priority >= High"`
	Instead *string `json:"instead" example:"label:a,b" doc:"What to type instead; null: there is nothing like it."`
}

// Correction is a word that no text contains, with those that count instead, as the hits have them.
type Correction struct {
	_ struct{} `schema:"Correction"`

	From string   `json:"from" example:"paymnet"`
	To   []string `json:"to" min:"1" max:"3" example:"[\"payment\"]"`
}

// readIn keeps the languages in which a query was read, if there are several.
func (p *Page) readIn(languages []string) {
	if len(languages) > 1 {
		p.Languages = languages
	}
}

// Hybrid runs both searches and returns a page of the fused list. If the embedding fails or takes
// longer than hybridBudget, only keyword search answers, and Degraded says so. With KeywordOnly
// nothing is embedded. Without a text it lists what passes the filters. Facets are counted
// concurrently over the same matches. Hits are worth more than their explanation, whose failure is
// only reported.
func (s *Searcher) Hybrid(ctx context.Context, db rpc.Caller, q Query, embedding Embedding) (Page, error) {
	page := Page{Hits: []Hit{}, Fusion: cmp.Or(q.Fusion, RRF), Retrieval: cmp.Or(q.Retrieval, Both)}
	if q.MatchThreshold != nil {
		page.MatchThreshold = *q.MatchThreshold
	}
	matching := map[string]any{
		"query_text": q.Text, "filters": q.Filters, "filters_in_text": false, "embedding_model": embedding.Model(), "match_threshold": q.MatchThreshold,
	}
	switch {
	case q.Text == "":
		page.Executed, matching["query_text"] = []string{}, nil
	case q.Retrieval == KeywordOnly:
		page.Executed, matching["unfinished"] = []string{"keyword"}, true
	default:
		vector, err := inTime(ctx, embedding)
		switch {
		case err == nil:
			page.Executed, page.EmbeddingModel, matching["query_embedding"] = []string{"vector", "keyword"}, embedding.Model(), vector
		case ctx.Err() != nil:
			return Page{}, fmt.Errorf("embed query: %w", err)
		default:
			s.warn(ctx, "searching by keyword alone: the query could not be embedded", err)
			page.Executed, page.Degraded, page.Partial = []string{"keyword"}, []string{"vector"}, true
		}
	}
	asked := ctx // which outlives the group's
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return rescue.Do(func() error { return s.rank(ctx, db, q, maps.Clone(matching), &page) })
	})
	if q.Facets {
		group.Go(func() error {
			return rescue.Do(func() (err error) {
				page.Facets, page.FacetsCapped, err = countFacets(ctx, db, matching)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return Page{}, err
	}
	if err := page.explain(asked, db, q); err != nil {
		s.warn(asked, "the search is not explained", err)
		page.Partial = true
	}
	return page, nil
}

// rank fills the page with its hits, best first.
func (s *Searcher) rank(ctx context.Context, db rpc.Caller, q Query, arguments map[string]any, page *Page) error {
	arguments["match_count"], arguments["match_offset"], arguments["fusion"] = q.Limit, q.Offset, page.Fusion
	arguments["vector_weight"], arguments["keyword_weight"], arguments["sort"] = s.weights.Vector, s.weights.Keyword, cmp.Or(q.Sort, Relevance)
	rows, err := rpc.All[hitRow](ctx, db, "search_hybrid", arguments)
	if err != nil {
		return err
	}
	for _, row := range rows {
		hit := row.Hit
		if hit.Fields, hit.Kind = row.Fields, "project"; hit.TicketID != nil {
			hit.Kind = "ticket"
		}
		if q.Explain {
			hit.Explain = row.explain(s.weights)
		}
		page.Hits = append(page.Hits, hit)
	}
	if len(rows) > 0 {
		page.HasMore = rows[0].HasMore
		page.readIn(rows[0].Languages)
		if rows[0].Relaxed {
			page.Relaxed = []string{"phrase"}
		}
	}
	return nil
}
