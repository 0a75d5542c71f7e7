package api

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
	"tasklens/internal/search"
)

// maxReach is that of offset and limit together.
const maxReach = 1000

type searchRequest struct {
	search.Query
	narrowed
}

func (r *searchRequest) check(wrong report) {
	wrong(r.Text == "" && r.Filters.IsZero(), "query", "must not be empty where there are no filters")
	wrong(r.Text != "" && !strings.ContainsFunc(r.Text, isVisible), "query", "must have a visible character")
	wrong(r.Offset > maxReach-r.Limit, "offset", "must be at most %d together with limit", maxReach)
}

type searchResponse struct {
	search.Page
	ReadAs *readAs `json:"read_as,omitempty"`
}

// hybridSearch finds tickets and projects by keywords and by meaning.
func (a *API) hybridSearch(c *fiber.Ctx, request *searchRequest) error {
	db, err := a.database(c)
	if err != nil {
		return err
	}
	started, query := time.Now(), request.Query
	query.Text, query.Fusion = normal(query.Text), cmp.Or(query.Fusion, a.Fusion, search.RRF)
	if query.MatchThreshold == nil {
		usual := a.usualThreshold(c.UserContext(), answer.Tickets)
		query.MatchThreshold = &usual
	}
	if query.Filters, err = request.within(query.Filters); err != nil {
		return err
	}
	readAs, err := narrow(c, &query)
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
		response := searchResponse{page, readAs}
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
