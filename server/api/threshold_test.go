package api_test

import (
	"testing"

	"tasklens/internal/threshold"
	"tasklens/internal/vector"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api"
)

// By default the threshold measured for the serving model applies; MATCH_THRESHOLD or the request
// overrides it. Every response reports the value used.
func TestUsedThreshold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		measured     bool
		set, request *float64
		want         float64
		origin       threshold.Origin
	}{
		"nothing is known": {want: 0.7, origin: threshold.Unknown},
		"measured":         {measured: true, want: 0.41, origin: threshold.IsMeasured},
		"as specified":     {measured: true, set: new(0.7), want: 0.7, origin: threshold.Set},
		"asked for":        {measured: true, set: new(0.2), request: new(0.7), want: 0.7, origin: threshold.Set},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startTracker(t, func(w *setup) { w.more = func(p *api.Parts) { p.MatchThreshold = c.set } })
			if c.measured {
				var all []threshold.Measured
				for _, width := range threshold.Widths {
					m := threshold.Measured{Model: offline.EmbeddingModel, Dimensions: width, Threshold: 0.41}
					if width == vector.ShortDimensions {
						m.Threshold = 0.43
					}
					all = append(all, m)
				}
				if err := s.rows.Call(t.Context(), "store_match_thresholds", map[string]any{"thresholds": all}, nil); err != nil {
					t.Fatal(err)
				}
			}
			search, question := map[string]any{"query": "resolve login issue"}, map[string]any{"question": "How was the login bug fixed?"}
			if c.request != nil {
				search["match_threshold"], question["match_threshold"] = *c.request, *c.request
			}
			type used struct {
				MatchThreshold float64  `json:"match_threshold"`
				BestSimilarity *float64 `json:"best_similarity"`
				LowSimilarity  bool     `json:"low_similarity"`
				Results        []struct{ Similarity *float64 }
			}
			found := read[used](s.post("/api/hybrid-search", search))
			if found.MatchThreshold != c.want {
				t.Errorf("a search used %v, want %v", found.MatchThreshold, c.want)
			}
			for _, r := range found.Results {
				if r.Similarity != nil && *r.Similarity <= c.want {
					t.Errorf("a result with the similarity %v", *r.Similarity)
				}
			}
			for range 2 { // the second time from the cache
				if got := read[used](s.post("/api/query", question)); got.MatchThreshold != c.want || got.LowSimilarity != (*got.BestSimilarity <= c.want) {
					t.Errorf("a question: %+v, want the threshold %v", got, c.want)
				}
			}
			if c.measured && c.set == nil {
				question["corpus"] = "all"
				if got := read[used](s.post("/api/query", question)); got.MatchThreshold != 0.43 {
					t.Errorf("a question of all texts used %v, want 0.43", got.MatchThreshold)
				}
			}
			status := read[struct {
				Thresholds []threshold.Fitting `json:"match_thresholds"`
			}](s.get("/api/embeddings/status"))
			if len(status.Thresholds) != 2 || status.Thresholds[0].Origin != c.origin || status.Thresholds[0].Model != offline.EmbeddingModel {
				t.Errorf("the status shows %+v", status.Thresholds)
			}
		})
	}
}
