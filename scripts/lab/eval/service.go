package eval

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"tasklens/scripts/lab/web"
)

// Service is a running service, called over HTTP like any client does.
type Service struct {
	URL    string // http://host:port
	Fusion string // fusion requested by searches; empty for the service's default
}

// hit has the fields of a result that a ranking needs.
type hit struct {
	ProjectID   int64   `json:"project_id"`
	TicketKey   *string `json:"ticket_key"`
	VectorRank  *int    `json:"vector_rank"`
	KeywordRank *int    `json:"keyword_rank"`
}

// item returns what a hit ranks. A project's own text is not a ticket, but takes a place in the
// ranking.
func (h hit) item() string {
	if h.TicketKey == nil {
		return "project " + strconv.FormatInt(h.ProjectID, 10)
	}
	return *h.TicketKey
}

type page struct {
	Results  []hit    `json:"results"`
	HasMore  bool     `json:"has_more"`
	Degraded []string `json:"degraded"`
}

// search requests a page of limit results; a nil threshold is the service's default.
func (s Service) search(ctx context.Context, query string, threshold *float64, limit, offset int) (page, error) {
	request := map[string]any{"query": query, "limit": limit, "offset": offset}
	if threshold != nil {
		request["match_threshold"] = *threshold
	}
	if s.Fusion != "" {
		request["fusion"] = s.Fusion
	}
	var p page
	if err := s.post(ctx, "/api/hybrid-search", request, &p); err != nil {
		return page{}, fmt.Errorf("search %q: %w", query, err)
	}
	if len(p.Degraded) > 0 {
		return page{}, fmt.Errorf("search %q: the service could not run the search by %v", query, p.Degraded)
	}
	return p, nil
}

// post sends a JSON object and decodes the response.
func (s Service) post(ctx context.Context, path string, request, answer any) error {
	return web.Call(ctx, http.MethodPost, s.URL+path, request, answer)
}

// get decodes the JSON object at a path.
func (s Service) get(ctx context.Context, path string, answer any) error {
	return web.Call(ctx, http.MethodGet, s.URL+path, nil, answer)
}
