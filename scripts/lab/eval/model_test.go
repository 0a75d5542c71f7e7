package eval_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"tasklens/scripts/lab/eval"
)

// A check of a model that fails now and then, or has no time for all questions, is whole, and the
// first questions are a fair part. One that only fails ends soon.
func TestCheckModelCompletes(t *testing.T) {
	t.Parallel()
	var questions []eval.Asked
	for i := range 20 {
		q := eval.Asked{Half: "choose", Question: fmt.Sprint("Why ", i, "?")}
		if i < 16 {
			q.Cite = []string{"A-1"}
		}
		questions = append(questions, q)
	}
	for name, c := range map[string]struct {
		fails func(request int) bool
		most  time.Duration
		want  []string
		err   string
	}{
		"all":          {func(int) bool { return false }, time.Hour, []string{"| 16 of 16 | 16 | 0 of 4 | 2 of 2 |", "20 answers took", "2 searches took"}, ""},
		"now and then": {func(n int) bool { return n%5 == 0 }, time.Hour, []string{"| 12 of 12 | 12 | 0 of 4 | 2 of 2 |", "16 answers took", "4 failed and are not counted, at last: ", "504"}, ""},
		"no time":      {func(int) bool { return false }, 0, []string{"| 1 of 1 | 1 | 0 of 0 | 2 of 2 |", "There was time for 1 of 20 questions."}, ""},
		"always":       {func(int) bool { return true }, time.Hour, nil, "3 failures in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, unanswerable := 0, 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var answer any
				switch r.URL.Path {
				case "/api/embeddings/status":
					answer = map[string]any{"match_thresholds": []any{map[string]any{"dimensions": 1536, "model": "m", "threshold": 0.3, "measured": map[string]any{}}}}
				case "/api/projects":
					answer = map[string]any{}
				case "/api/query":
					body, _ := io.ReadAll(r.Body)
					if asked++; asked <= 10 && regexp.MustCompile(`1[6-9]`).Match(body) {
						unanswerable++
					}
					if c.fails(asked) {
						w.WriteHeader(http.StatusGatewayTimeout)
						return
					}
					answer = map[string]any{"sources": []any{map[string]any{"ticket_key": "A-1", "cited": true}}}
				case "/api/hybrid-search":
					answer = map[string]any{"results": []any{map[string]any{"ticket_key": "A-1"}}}
				default:
					fmt.Fprintln(w, "go_goroutines 1")
					return
				}
				_ = json.NewEncoder(w).Encode(answer)
			}))
			t.Cleanup(server.Close)
			var out bytes.Buffer
			check, err := eval.CheckModel(t.Context(), eval.Service{URL: server.URL}, questions, questions[:2], c.most, func(string) {})
			if err == nil {
				err = check.Print(&out, -1)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("the error is %v", err)
			}
			if asked == len(questions) && (unanswerable < 1 || unanswerable > 3) {
				t.Errorf("%d of the first 10 questions are without an answer", unanswerable)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in %s", want, out.String())
				}
			}
		})
	}
}
