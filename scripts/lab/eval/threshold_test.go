package eval_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/eval"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api/apitest"
)

// judgedMeanings maps each text of the judged set, and the question that it answers, to a shared
// meaning.
func judgedMeanings(t *testing.T) func(text string) string {
	t.Helper()
	lines, err := os.ReadFile("../../../internal/threshold/judged.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for line := range strings.Lines(string(lines)) {
		var one struct{ Question, Name, Description string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		names[one.Question], names[one.Description] = one.Name, one.Name
	}
	return func(text string) string { return names[text[strings.LastIndex(text, "\n")+1:]] }
}

// counting returns a service whose metrics can be read.
func counting(t *testing.T, address string) string {
	t.Helper()
	service, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			httputil.NewSingleHostReverseProxy(service).ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, `# TYPE tasklens_model_tokens_total counter
tasklens_model_tokens_total{direction="input",model="gpt",operation="chat"} 40
tasklens_model_tokens_total{direction="output",model="gpt",operation="chat"} 2
tasklens_model_tokens_total{direction="input",model="e",operation="embeddings"} 7
tasklens_model_tokens_total{direction="output",model="e",operation="embeddings"} 0
tasklens_up 1
`)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// With models whose cosines differ from the offline model's, and default settings, answerable
// questions are answered and others are not. The figures are those of real models; see
// docs/models.md.
func TestThresholdFitsTheModel(t *testing.T) {
	t.Parallel()
	questions, err := eval.ReadAsked(filepath.Join(sample, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scale             testbed.Scale
		threshold, median float64 // of real vectors; the median is of unrelated texts
	}{
		{testbed.ScaleOf3Small, 0.28, 0.14},
		{testbed.ScaleOfAda, 0.74, 0.65},
	} {
		t.Run(c.scale.Name, func(t *testing.T) {
			t.Parallel()
			service := apitest.Start(t, testbed.Database(t), offline.NewHandler(offline.Embedder(c.scale.Embedder(judgedMeanings(t)))))
			measured := measureThreshold(t, service)
			if m := measured[0]; math.Abs(m.Threshold-c.threshold) > 0.05 || math.Abs(m.UnrelatedMedian-c.median) > 0.05 {
				t.Errorf("the threshold is %.2f and the median %.2f, those of real vectors are %.2f and %.2f", m.Threshold, m.UnrelatedMedian, c.threshold, c.median)
			}
			if m := measured[0]; m.RightOver < 0.85 || m.UnrelatedOver > 0.1 {
				t.Errorf("of the held-out half, %.2f of the right pairs and %.2f of the unrelated ones pass", m.RightOver, m.UnrelatedOver)
			}
			loadFolder(t, service, sample)
			check, err := eval.CheckModel(t.Context(), eval.Service{URL: counting(t, service.URL)}, questions)
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := check.Print(&table, -1); err != nil || !strings.Contains(table.String(), "| 7, 40, 2 | not known |") {
				t.Errorf("error %v, printed:\n%s", err, &table)
			}
			if share := fmt.Sprintf(" %.1f%% |", 100*measured[0].UnrelatedOver); !strings.Contains(table.String(), share) {
				t.Errorf("the share of unrelated texts is missing,%s", share)
			}
			t.Logf("%s:\n%s", c.scale.Name, &table)
			if check.Sourced < check.Answerable-2 || check.Cited > check.Sourced || check.Answerable < 50 || check.Abstained < check.Unanswerable-3 || check.Unanswerable < 14 {
				t.Errorf("%+v", check)
			}
		})
	}
}
