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
	search.Page
	MatchThreshold float64 `json:"match_threshold"`
	Fusion         string  `json:"fusion"`
	ReadAs         *readAs `json:"read_as,omitempty"`
	Retrieval      string  `json:"retrieval"`
	Cached         bool    `json:"cached"`
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
		Retrieval: or(request.Retrieval, search.Both), Sort: or(request.Sort, search.Relevance),
		Explain: or(request.Explain, false), Facets: or(request.Facets, false),
	}
	readAs, err := narrow(c, &query, request.Filters)
	if err != nil {
		return err
	}
	// A word's weight depends on its frequency in all projects, and so does a result, whatever
	// its filter.
	keyed := query
	keyed.Filters = query.Filters.Folded()
	everything := a.newAsked(c, "hybrid-search", query.Text, nil, []any{keyed, keyed.Filters.Nothing, readAs})
	work := func(ctx context.Context, embedding memo.Query) (memo.Made, error) {
		page, err := a.Searcher.Hybrid(ctx, db, query, embedding)
		if err != nil {
			return memo.Made{}, err
		}
		response := searchResponse{
			Page: page, MatchThreshold: query.MatchThreshold, Fusion: query.Fusion, Retrieval: query.Retrieval, ReadAs: readAs,
		}
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
