package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tasklens/internal/fault"
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
	wrong(isHidden(r.Text), "query", "must have a visible character")
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
	read, err := a.readQuery(ctx, who, &query)
	if query.MatchThreshold == nil && err == nil {
		query.MatchThreshold = &read.usual
	}
	if fault.CodeOf(err) == fault.Invalid {
		return nil, err
	}
	if query.Retrieval == search.KeywordOnly { // as one types: no model, no cache, no query log
		if err != nil {
			return nil, err
		}
		return a.find(ctx, who, query, read)
	}
	asked := newCacheable(who, "hybrid-search", read.present, query, query.Typed, read)
	asked.err, asked.unlogged = err, !request.Log
	asked.entry = func(err error) querylog.Entry { return querylog.OfSearch(query, search.Page{}, read.usual, err) }
	return a.respond(ctx, asked, func(ctx context.Context) (memo.Made, error) {
		response, err := a.find(ctx, who, query, read)
		var kept any
		if !response.Partial {
			again := response
			again.Cached = true
			kept = again
		}
		return made(querylog.OfSearch(query, response.Page, read.usual, err), response, kept, err)
	})
}

// find searches, and says how the query was read.
func (a *API) find(ctx context.Context, who *caller, query search.Query, read typed) (found searchResponse, err error) {
	if found.Page, err = a.Searcher.Hybrid(ctx, who.db, query, a.Embeddings.Query(read.Model, query.Text)); err != nil {
		return found, err
	}
	found.NotRead = read.NotRead
	// The names that were typed, and those in the filters of an empty page.
	found.Candidates = slices.Concat(read.Candidates, slices.DeleteFunc(found.Candidates, func(one filter.Candidate) bool {
		return slices.ContainsFunc(read.Candidates, func(other filter.Candidate) bool { return one.Member == other.Member && one.Value == other.Value })
	}))
	if !read.Filters.IsZero() || read.Sort != nil || len(read.Candidates) > 0 || len(found.Excluded) > 0 {
		found.ReadAs = &readAs{Text: query.Text, Filters: read.Filters, Excluded: found.Excluded}
	}
	return found, err
}

// normal is the one form of texts that look the same: composed Unicode (NFC) and single spaces.
func normal(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }
