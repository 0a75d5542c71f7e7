package api

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/memo"
	"tasklens/internal/search"
)

const defaultLimit = 10

type searchRequest struct {
	Query          string         `json:"query"`
	ProjectID      *int64         `json:"project_id"`
	StatusFilter   *string        `json:"status_filter"`
	Filters        filter.Filters `json:"filters" default:""`
	Sort           *string        `json:"sort"`
	Limit          *int           `json:"limit"`
	Offset         *int           `json:"offset"`
	MatchThreshold *float64       `json:"match_threshold"`
	Fusion         *string        `json:"fusion"`
	Retrieval      *string        `json:"retrieval"`
	Explain        *bool          `json:"explain"`
	Facets         *bool          `json:"facets"`
}

func (r *searchRequest) check(wrong report) {
	if strings.TrimSpace(r.Query) != "" {
		checkText(wrong, "query", &r.Query)
	} else {
		r.Query = ""
		wrong(r.Filters.IsZero(), "query", "must not be empty where there are no filters")
	}
	checkID(wrong, "project_id", r.ProjectID)
	checkStatus(wrong, r.StatusFilter)
	sort := or(r.Sort, search.Relevance)
	wrong(sort != search.Relevance && sort != search.Newest && sort != search.Updated, "sort", "must be \"relevance\", \"newest\" or \"updated\"")
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
	ReadAs         *readAs        `json:"read_as,omitempty"`
	Retrieval      string         `json:"retrieval"`
	Facets         *searchFacets  `json:"facets,omitempty"`
	FacetsCapped   bool           `json:"facets_capped,omitempty"`
	Cached         bool           `json:"cached"`
	Executed       []string       `json:"executed"`
	Degraded       []string       `json:"degraded,omitempty"`
	Relaxed        []string       `json:"relaxed,omitempty"`
}

type searchFacets struct {
	Status   []search.FacetValue `json:"status"`
	Project  []search.FacetValue `json:"project"`
	Assignee []search.FacetValue `json:"assignee,omitempty"`
	Reporter []search.FacetValue `json:"reporter,omitempty"`
	Type     []search.FacetValue `json:"type,omitempty"`
	Priority []search.FacetValue `json:"priority,omitempty"`
	Label    []search.FacetValue `json:"label,omitempty"`
	Open     []search.FacetValue `json:"open,omitempty"`
}

type searchResult struct {
	Kind        string       `json:"kind"` // ticket or project
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

	Assignee       *string         `json:"assignee,omitempty"`
	Reporter       *string         `json:"reporter,omitempty"`
	Type           *string         `json:"type,omitempty"`
	Priority       *string         `json:"priority,omitempty"`
	Labels         []string        `json:"labels,omitempty"`
	DueDate        *string         `json:"due_date,omitempty"`
	CreatedAt      *time.Time      `json:"created_at,omitempty"`
	UpdatedAt      *time.Time      `json:"updated_at,omitempty"`
	StatusCategory *string         `json:"status_category,omitempty"`
	Links          []search.Link   `json:"links,omitempty"`
	Comment        *search.Comment `json:"comment,omitempty"`
}

// explanation is each search's contribution to a result's rank. A search that did not find the
// result is absent.
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

// hybridSearch finds tickets and projects by keywords and by meaning.
func (a *API) hybridSearch(c *fiber.Ctx) error {
	var request searchRequest
	if err := readRequest(c, &request); err != nil {
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
		Retrieval: or(request.Retrieval, search.Both), Facets: or(request.Facets, false), Sort: or(request.Sort, search.Relevance),
	}
	readAs, err := narrow(c, &query, request.Filters)
	if err != nil {
		return err
	}
	explained := or(request.Explain, false)
	// A word's weight depends on its frequency in all projects, and so does a result, whatever
	// its filter.
	keyed := query
	keyed.Filters = query.Filters.Folded()
	everything := a.newAsked(c, "hybrid-search", query.Text, nil, []any{keyed, keyed.Filters.Nothing, explained, readAs})
	work := func(ctx context.Context, embedding memo.Query) (memo.Made, error) {
		page, err := a.Searcher.Hybrid(ctx, db, query, embedding)
		if err != nil {
			return memo.Made{}, err
		}
		response := newSearchResponse(page, query, explained)
		response.ReadAs = readAs
		kept := response
		kept.Cached = true
		return encodeResponse(response, kept, len(page.Degraded) == 0, page)
	}
	if query.Retrieval == search.KeywordOnly { // for search as one types: no model, no cache, no query log
		made, err := work(c.UserContext(), a.Embeddings.Query(a.EmbeddingModel, ""))
		if err != nil {
			return err
		}
		return sendMade(c, made, a.uncached())
	}
	made, origin, err := a.respond(c.UserContext(), db, everything, work)
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
		response.Facets = newSearchFacets(page.Facets.Values)
		response.FacetsCapped = page.Facets.Capped
	}
	for _, hit := range page.Hits {
		result := searchResult{
			TicketID: hit.TicketID, Text: hit.Text, Similarity: hit.Similarity, Source: hit.Source, RRFScore: hit.RRFScore, FusedScore: hit.FusedScore,
			ProjectID: hit.ProjectID, ProjectName: hit.ProjectName, TicketKey: hit.TicketKey, TicketName: hit.TicketName,
			Status: hit.Status, VectorRank: hit.VectorRank, KeywordRank: hit.KeywordRank, MatchedBy: hit.MatchedBy,
			Exact: hit.Exact, Highlight: hit.Highlight,
			Assignee: hit.Assignee, Reporter: hit.Reporter, Type: hit.Type, Priority: hit.Priority, Labels: hit.Labels, DueDate: hit.DueDate,
			CreatedAt: hit.CreatedAt, UpdatedAt: hit.UpdatedAt, StatusCategory: hit.StatusCategory, Links: hit.Links, Comment: hit.Comment(),
		}
		result.Kind = "project"
		if hit.TicketID != nil {
			result.Kind = "ticket"
		}
		if explained {
			result.Explain = explain(hit, page.Weights)
		}
		response.Results = append(response.Results, result)
	}
	return response
}

// newSearchFacets always includes statuses and projects, even if empty. Facets that not every
// tracker has are included only if they have values.
func newSearchFacets(of map[string][]search.FacetValue) *searchFacets {
	facets := &searchFacets{
		Status: of["status"], Project: of["project"], Assignee: of["assignee"], Reporter: of["reporter"],
		Type: of["type"], Priority: of["priority"], Label: of["label"], Open: of["open"],
	}
	for _, list := range []*[]search.FacetValue{&facets.Status, &facets.Project} {
		if *list == nil {
			*list = []search.FacetValue{}
		}
	}
	return facets
}

// explain shows how the fused score adds up. The score itself comes from the database.
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
