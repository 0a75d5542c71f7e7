package bench

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"tasklens/scripts/lab/web"
)

// search sends search i: one in ten repeated, the others new, with filters and of further pages
// too.
func (s *Soak) search(ctx context.Context, i int) error {
	request := map[string]any{"query": s.Collection.Query(s.Salt + i), "limit": results}
	switch i % 10 {
	case 0:
		request["query"] = s.Collection.Query(i / 10 % repeatedQueries)
	case 1:
		request["filters"] = map[string]any{"statuses": []string{statuses[1].name}}
	case 2:
		request["filters"] = map[string]any{"labels": []string{labelOf(0.5)}, "created": map[string]any{"from": dayOf(0.5)}}
	case 3:
		request["filters"] = map[string]any{"projects": []string{"B2"}}
	case 4, 5:
		request["offset"] = results * (i % 10)
	}
	answer, err := web.Read(ctx, http.MethodPost, s.Service+"/api/hybrid-search", request)
	if err == nil && bytes.Contains(answer, []byte(`"degraded":`)) {
		return errors.New("degraded")
	}
	return err
}

// question asks question i, of which each is new.
func (s *Soak) question(ctx context.Context, i int) error {
	_, err := web.Read(ctx, http.MethodPost, s.Service+"/api/query", body("/api/query", s.Collection.Query(s.Salt+soakQuestions+i)))
	return err
}
