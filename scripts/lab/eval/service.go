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

// Service is a running service, asked over HTTP as any client asks it.
type Service struct {
	URL    string // http://host:port
	Fusion string // that searches ask for; empty: the service's own
}

const maxResponse = 32 << 20

// hit is what a ranking needs to know of a result.
type hit struct {
	ProjectID   int64   `json:"project_id"`
	TicketKey   *string `json:"ticket_key"`
	VectorRank  *int    `json:"vector_rank"`
	KeywordRank *int    `json:"keyword_rank"`
}

// item is what a hit stands for. A project's own text is no ticket, but takes a place in the
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

// search asks for a page of limit results; threshold nil is the service's own.
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

// post sends a JSON object and reads the one that answers it.
func (s Service) post(ctx context.Context, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return s.call(ctx, http.MethodPost, path, body, answer)
}

// get reads the JSON object at a path.
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

// read sends a request and reads what answers it.
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
