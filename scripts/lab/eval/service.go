package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Service is a running service, called over HTTP like any client does.
type Service struct {
	URL    string // http://host:port
	Fusion string // fusion requested by searches; empty for the service's default
}

const maxResponse = 32 << 20

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
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return s.call(ctx, http.MethodPost, path, body, answer)
}

// get decodes the JSON object at a path.
func (s Service) get(ctx context.Context, path string, answer any) error {
	return s.call(ctx, http.MethodGet, path, nil, answer)
}

func (s Service) call(ctx context.Context, method, path string, body []byte, answer any) error {
	text, err := s.read(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// read sends a request and reads the response.
func (s Service) read(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	call, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		call.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(call)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %.500s", response.StatusCode, text)
	}
	return text, nil
}
