package eval_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/eval"
)

const sample = "../../../supabase/sample"

// The sample workspace is small and the questions use its words: this is a regression test, not a
// measure of quality.
func TestSampleWorkspace(t *testing.T) {
	t.Parallel()
	questions, err := eval.ReadAsked(filepath.Join(sample, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := eval.CheckAnswers(t.Context(), eval.Service{URL: start(t, testbed.Database(t), sample)}, questions, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 { // halves
		t.Fatalf("rates are %+v", all)
	}
	for _, r := range all {
		if r.Answerable < 20 || r.Unanswerable < 5 || r.Cited < r.Answerable-2 || r.Abstained < r.Unanswerable-2 {
			t.Errorf("%+v", r)
		}
	}
	var out strings.Builder
	if err := (eval.Result{To: &out, Collection: "sample"}).Answers("questions.jsonl", all); err != nil || !strings.Contains(out.String(), "sample\tquestions, to choose by\tright one cited, of 25\t") {
		t.Errorf("error %v, printed:\n%s", err, &out)
	}
}

// Wrong answers are counted as wrong.
func TestAnswersAreCounted(t *testing.T) {
	t.Parallel()
	service := eval.Service{URL: start(t, testbed.Database(t), folder(t, map[string]string{"projects.jsonl": projects, "tickets.jsonl": tickets}))}
	all, err := eval.CheckAnswers(t.Context(), service, []eval.Asked{
		{Half: "choose", Question: "Where does the pump leak at the shaft?", Cite: []string{"PUMP-1"}},
		{Half: "choose", Question: "Why is the valve of the leaking pump stuck?", Cite: []string{"PUMP-9"}},
		{Half: "report", Question: "What is the capital of Mongolia?"},
		{Half: "report", Question: "Does the pump leak at the shaft?"},
	}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		want := eval.Rates{Half: "choose", Answerable: 2, Cited: 1, Wrong: []string{"Why is the valve of the leaking pump stuck?"}}
		if r.Half == "report" {
			want = eval.Rates{Half: "report", Unanswerable: 2, Abstained: 1, Wrong: []string{"Does the pump leak at the shaft?"}}
		}
		if r.Cited != want.Cited || r.Answerable != want.Answerable || r.Unanswerable != want.Unanswerable || r.Abstained != want.Abstained ||
			strings.Join(r.Wrong, "|") != strings.Join(want.Wrong, "|") {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	var out strings.Builder
	if err := (eval.Result{To: &out, Collection: "pumps"}).Answers("questions.jsonl", all); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"pumps\tquestions, to choose by\tright one a source, of 2\t1\n",
		"pumps\tquestions, to choose by\tright one cited, of 2\t1\n",
		"pumps\tquestions, to report by\tabstained from unanswerable, of 2\t1\n",
		"# pumps: wrong: Why is the valve of the leaking pump stuck?\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in:\n%s", line, &out)
		}
	}
	if strings.Contains(out.String(), "Does the pump leak") {
		t.Error("a question of the other half is shown")
	}
}

// answered asks the questions of a file about the sample.
func answered(t *testing.T, file string) []eval.Rates {
	t.Helper()
	questions, err := eval.ReadAsked(filepath.Join(sample, file))
	if err != nil {
		t.Fatal(err)
	}
	rates, err := eval.CheckAnswers(t.Context(), eval.Service{URL: start(t, testbed.Database(t), sample)}, questions, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return rates
}

// Questions for a ticket's people, dates, labels and links, most of which no text of it has.
func TestQuestionsAboutFields(t *testing.T) {
	t.Parallel()
	for _, r := range answered(t, "field_questions.jsonl") {
		if r.Answerable != 10 || r.Cited < 9 {
			t.Errorf("%+v", r)
		}
	}
}
