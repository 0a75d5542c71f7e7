package api

import (
	"cmp"
	"context"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/memo"
	"tasklens/internal/querylog"
	"tasklens/internal/search"
)

// maxReach is that of offset and limit together.
const maxReach = 1000

type searchRequest struct {
	search.Query
	narrowed

	Log bool `json:"log" default:"true" doc:"Adds the search to the query log and to the metrics of searches; ~false~ is for one that nobody typed."`
}

func (r *searchRequest) check(wrong report) {
	wrong(r.Text == "" && len(r.Filters) == 0, "query", "must not be empty where there are no filters")
	wrong(r.Text != "" && !strings.ContainsFunc(r.Text, isVisible), "query", "must have a visible character")
	wrong(r.Offset > maxReach-r.Limit, "offset", "must be at most %d together with limit", maxReach)
}

type searchResponse struct {
	search.Page
	ReadAs *readAs `json:"read_as,omitempty"`
}

// hybridSearch finds tickets and projects by keywords and by meaning.
func (a *API) hybridSearch(ctx context.Context, who *caller, request *searchRequest) (any, error) {
	query := request.Query
	query.Text, query.Fusion = normal(query.Text), cmp.Or(query.Fusion, a.Fusion, search.RRF)
	query.Filters = request.within(query.Filters)
	given := query.Filters
	read, err := a.narrow(ctx, who, &query)
	if err != nil {
		return nil, err
	}
	now, err := a.present(ctx, who, answer.Tickets)
	if query.MatchThreshold == nil && err == nil {
		query.MatchThreshold = &now.usual
	}
	if query.Retrieval == search.KeywordOnly { // for search as one types: no model, no cache, no query log
		if err != nil {
			return nil, err
		}
		page, as, err := a.searchAsRead(ctx, who, query, given, read, a.Embeddings.Query(a.EmbeddingModel, ""))
		made, err := made(querylog.Entry{}, searchResponse{page, as}, nil, err)
		made.Origin = a.uncached()
		return made, err
	}
	// A word's weight depends on its frequency in all projects, and so does a result, whatever
	// its filter.
	everything := newCacheable(who, "hybrid-search", now, query, read)
	everything.err, everything.unlogged = err, !request.Log
	everything.entry = func(err error) querylog.Entry { return querylog.OfSearch(query, search.Page{}, now.usual, err) }
	return a.respond(ctx, everything, func(ctx context.Context) (memo.Made, error) {
		page, as, err := a.searchAsRead(ctx, who, query, given, read, a.Embeddings.Query(now.Model, query.Text))
		response := searchResponse{page, as}
		var kept any
		if len(page.Degraded) == 0 {
			cached := response
			cached.Cached = true
			kept = cached
		}
		return made(querylog.OfSearch(query, page, now.usual, err), response, kept, err)
	})
}

// searchAsRead searches, and again if that finds nothing because of names that nothing has: each
// means the one stored value that it resembles, or, beside words, its filter is text. The page
// keeps them as candidates. given are the filters that were not typed.
func (a *API) searchAsRead(ctx context.Context, who *caller, query search.Query, given filter.Filters, read *readAs, embedding memo.Query) (search.Page, *readAs, error) {
	page, err := a.Searcher.Hybrid(ctx, who.db, query, embedding)
	if err != nil {
		return page, read, err
	}
	if err := page.Annotate(ctx, who.db, query); err != nil {
		return page, read, err
	}
	if len(page.Excluded) > 0 {
		as := readAs{Text: query.Text}
		if read != nil {
			as = *read
		}
		as.Excluded, read = page.Excluded, &as
	}
	if read == nil {
		return page, nil, nil
	}
	if len(page.Candidates) == 0 {
		return page, read, nil
	}
	again := *read
	if again.Text != "" {
		if again.Text, again.Filters, err = readText(ctx, who, query.Typed, filter.Unresolved(page.Candidates)); err != nil {
			return page, read, err
		}
	}
	corrected, changed := again.Filters.Correct(page.Candidates)
	if !changed && again.Text == read.Text {
		return page, read, nil
	}
	again.Filters, query.Text, query.Filters = corrected, again.Text, given.And(corrected)
	found, err := a.Searcher.Hybrid(ctx, who.db, query, embedding)
	found.UnknownKeys, found.Ignored, found.Candidates = page.UnknownKeys, page.Ignored, page.Candidates
	return found, &again, err
}

// normal is the one form of texts that look the same: composed Unicode (NFC) and single spaces.
func normal(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }
