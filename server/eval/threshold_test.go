package eval_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/offline"
	"tasklens/internal/testbed"
	"tasklens/server/api/apitest"
	"tasklens/server/eval"
)

// judgedMeanings tells of a text of the judged set, and of the question that it answers, which they are.
func judgedMeanings(t *testing.T) func(text string) string {
	t.Helper()
	lines, err := os.ReadFile("../../internal/threshold/judged.jsonl")
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

// With models whose cosines lie elsewhere than the offline model's, and nothing set, questions are answered and what has
// no answer is not. The figures are those of the real models; see docs/models.md.
func TestThresholdFitsTheModel(t *testing.T) {
	t.Parallel()
	questions, err := eval.ReadAsked(filepath.Join(sample, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scale            testbed.Scale
		right, unrelated map[int]float64 // deciles of real vectors
	}{
		{testbed.ScaleOf3Small, map[int]float64{0: 0.23, 5: 0.50, 10: 0.79}, map[int]float64{5: 0.14, 9: 0.22, 10: 0.43}},
		{testbed.ScaleOfAda, map[int]float64{0: 0.68, 5: 0.83, 10: 0.93}, map[int]float64{0: 0.57, 10: 0.71}},
	} {
		t.Run(c.scale.Name, func(t *testing.T) {
			t.Parallel()
			service := apitest.Start(t, testbed.Database(t), offline.NewHandler(offline.Embedder(c.scale.Embedder(judgedMeanings(t)))))
			measured := measureThreshold(t, service)
			for decile, real := range c.right {
				if math.Abs(measured[0].Right[decile]-real) > 0.05 {
					t.Errorf("decile %d of right pairs is %.3f, of real ones %.2f", decile, measured[0].Right[decile], real)
				}
			}
			for decile, real := range c.unrelated {
				if math.Abs(measured[0].Unrelated[decile]-real) > 0.05 {
					t.Errorf("decile %d of unrelated pairs is %.3f, of real ones %.2f", decile, measured[0].Unrelated[decile], real)
				}
			}
			if m := measured[0]; m.RightOver < 0.85 || m.UnrelatedOver > 0.1 {
				t.Errorf("of the half kept apart %.2f of the right ones and %.2f of the unrelated pass", m.RightOver, m.UnrelatedOver)
			}
			loadFolder(t, service, sample)
			rates, err := eval.CheckAnswers(t.Context(), eval.Service{URL: service.URL}, questions, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			sourced, answerable, abstained := 0, 0, 0
			for _, r := range rates[:len(eval.Halves)] { // by vector
				sourced, answerable, abstained = sourced+r.Sourced, answerable+r.Answerable, abstained+r.Abstained
			}
			t.Logf("threshold %.2f: the right one among the sources of %d of %d, abstained %d", measured[0].Threshold, sourced, answerable, abstained)
			if sourced < answerable-2 || abstained < 12 {
				t.Errorf("of %d questions %d have the right ticket among the sources; %d of those without an answer abstained", answerable, sourced, abstained)
			}
		})
	}
}
