package api

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
	"tasklens/internal/reembed"
	"tasklens/internal/search"
)

const defaultLimit = 10

type searchRequest struct {
	Query          string   `json:"query"`
	ProjectID      *int64   `json:"project_id"`
	StatusFilter   *string  `json:"status_filter"`
	Limit          *int     `json:"limit"`
	Offset         *int     `json:"offset"`
	MatchThreshold *float64 `json:"match_threshold"`
	Fusion         *string  `json:"fusion"`
	Retrieval      *string  `json:"retrieval"`
	Explain        *bool    `json:"explain"`
	Facets         *bool    `json:"facets"`
}

func (r *searchRequest) check(wrong report) {
	checkText(wrong, "query", &r.Query)
	checkID(wrong, "project_id", r.ProjectID)
	checkStatus(wrong, r.StatusFilter)
	checkRange(wrong, "limit", r.Limit, 1, maxLimit)
	wrong(or(r.Offset, 0) < 0, "offset", "must not be negative")
	wrong(or(r.Offset, 0) > maxReach-or(r.Limit, defaultLimit), "offset", "must be at most %d together with limit", maxReach)
	checkUnit(wrong, "match_threshold", r.MatchThreshold)
	fusion := or(r.Fusion, search.RRF)
	wrong(fusion != search.RRF && fusion != search.Convex, "fusion", "must be \"rrf\" or \"convex\"")
	retrieval := or(r.Retrieval, search.Both)
	wrong(retrieval != search.Both && retrieval != search.KeywordOnly, "retrieval", "must be \"hybrid\" or \"keyword\"")
}

type searchResponse struct {
	Results        []searchResult `json:"results"`
	HasMore        bool           `json:"has_more"`
	MatchThreshold float64        `json:"match_threshold"`
	Fusion         string         `json:"fusion"`
	Retrieval      string         `json:"retrieval"`
	Facets         *searchFacets  `json:"facets,omitempty"`
	FacetsCapped   bool           `json:"facets_capped,omitempty"`
	Cached         bool           `json:"cached"`
	Executed       []string       `json:"executed"`
	Degraded       []string       `json:"degraded,omitempty"`
	Relaxed        []string       `json:"relaxed,omitempty"`
}

type searchFacets struct {
	Status  []search.FacetValue `json:"status"`
	Project []search.FacetValue `json:"project"`
}

type searchResult struct {
	TicketID    *int64       `json:"ticket_id"`
	Text        string       `json:"text"`
	Similarity  *float64     `json:"similarity,omitempty"`
	Source      string       `json:"source"`
	RRFScore    float64      `json:"rrf_score"`
	FusedScore  float64      `json:"fused_score"`
	ProjectID   int64        `json:"project_id"`
	ProjectName string       `json:"project_name"`
	TicketKey   *string      `json:"ticket_key"`
	TicketName  *string      `json:"ticket_name"`
	Status      *string      `json:"status"`
	VectorRank  *int64       `json:"vector_rank,omitempty"`
	KeywordRank *int64       `json:"keyword_rank,omitempty"`
	MatchedBy   []string     `json:"matched_by"`
	Exact       bool         `json:"exact,omitempty"`
	Highlight   string       `json:"highlight"`
	Explain     *explanation `json:"explain,omitempty"`
}

// explanation tells what each search contributed to a result's place; a search that did not find it is absent.
type explanation struct {
	Vector  *vectorPart  `json:"vector,omitempty"`
	Keyword *keywordPart `json:"keyword,omitempty"`
}

type vectorPart struct {
	Rank         int64   `json:"rank"`
	Similarity   float64 `json:"similarity"`
	Weight       float64 `json:"weight"`
	Contribution float64 `json:"contribution"`
}

type keywordPart struct {
	Rank         int64   `json:"rank"`
	Score        float64 `json:"score"`
	Weight       float64 `json:"weight"`
	Contribution float64 `json:"contribution"`
}

// hybridSearch finds tickets and projects by words and by meaning.
func (a *API) hybridSearch(c *fiber.Ctx) error {
	var request searchRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	started := time.Now()
	query := search.Query{
		Text: request.Query, ProjectID: request.ProjectID, StatusFilter: request.StatusFilter,
		MatchThreshold: or(request.MatchThreshold, a.usualThreshold(c.UserContext(), answer.Tickets)),
		Limit:          or(request.Limit, defaultLimit), Offset: or(request.Offset, 0),
		Fusion:    or(request.Fusion, cmp.Or(a.Fusion, search.RRF)),
		Retrieval: or(request.Retrieval, search.Both), Facets: or(request.Facets, false),
	}
	explained := or(request.Explain, false)
	// A word weighs by how rare it is in all projects, so a result depends on all, whatever its filter.
	everything := asked(c, "hybrid-search", nil, []any{query, explained})
	work := func(ctx context.Context, _ func(memo.Event) error) (memo.Made, error) {
		page, err := a.Searcher.Hybrid(ctx, db, query)
		if err != nil {
			return memo.Made{}, err
		}
		response := newSearchResponse(page, query, explained)
		kept := response
		kept.Cached = true
		return encodeResponse(response, kept, len(page.Degraded) == 0, page)
	}
	if query.Retrieval == search.KeywordOnly { // for search as one types: no model, no cache, no query log
		made, err := work(c.UserContext(), nil)
		if err != nil {
			return err
		}
		return sendMade(c, made, a.unremembered())
	}
	made, origin, err := a.remembered(c.UserContext(), db, everything, query.Text, nil, work)
	if errors.Is(err, reembed.ErrUnknown) {
		query.Unembedded = err
		made, err = work(c.UserContext(), nil)
	}
	a.logSearch(c.UserContext(), started, query, made, origin, err)
	if err != nil {
		return err
	}
	return sendMade(c, made, origin)
}

func newSearchResponse(page search.Page, query search.Query, explained bool) searchResponse {
	response := searchResponse{Results: []searchResult{}, HasMore: page.HasMore, MatchThreshold: query.MatchThreshold, Fusion: query.Fusion,
		Retrieval: query.Retrieval, Executed: page.Executed, Degraded: page.Degraded, Relaxed: page.Relaxed}
	if page.Facets != nil {
		response.Facets = &searchFacets{Status: page.Facets.Status, Project: page.Facets.Project}
		response.FacetsCapped = page.Facets.Capped
	}
	for _, hit := range page.Hits {
		result := searchResult{
			TicketID: hit.TicketID, Text: hit.Text, Similarity: hit.Similarity, Source: hit.Source, RRFScore: hit.RRFScore, FusedScore: hit.FusedScore,
			ProjectID: hit.ProjectID, ProjectName: hit.ProjectName, TicketKey: hit.TicketKey, TicketName: hit.TicketName,
			Status: hit.Status, VectorRank: hit.VectorRank, KeywordRank: hit.KeywordRank, MatchedBy: hit.MatchedBy,
			Exact: hit.Exact, Highlight: hit.Highlight,
		}
		if explained {
			result.Explain = explain(hit, page.Weights)
		}
		response.Results = append(response.Results, result)
	}
	return response
}

// explain shows the arithmetic of the fused score; the score itself is the database's.
func explain(hit search.Hit, weights search.Weights) *explanation {
	var e explanation
	if hit.VectorRank != nil {
		e.Vector = &vectorPart{Rank: *hit.VectorRank, Similarity: *hit.Similarity, Weight: weights.Vector, Contribution: hit.VectorContribution}
	}
	if hit.KeywordRank != nil {
		e.Keyword = &keywordPart{Rank: *hit.KeywordRank, Score: *hit.KeywordScore, Weight: weights.Keyword, Contribution: hit.KeywordContribution}
	}
	return &e
}
