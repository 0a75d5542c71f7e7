package eval_test

import (
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/eval"
	"tasklens/scripts/lab/measure"
)

// The sample documents are few: this is a regression test, not a measure of quality.
func TestSampleDocuments(t *testing.T) {
	t.Parallel()
	var questions []eval.DocumentQuestion
	for _, file := range eval.DocumentQuestions {
		list, err := eval.ReadDocumentQuestions(sample, file)
		if err != nil || len(list) < 50 {
			t.Fatalf("%d questions in %s: %v", len(list), file, err)
		}
		questions = append(questions, list...)
	}
	service := eval.Service{URL: start(t, testbed.Database(t), sample)}
	rows, err := eval.RankDocuments(t.Context(), service, questions)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rankings, %v", len(rows), err)
	}
	for _, row := range rows {
		if mean := measure.Mean(row.NDCG10); mean < 0.6 || mean > 1 {
			t.Errorf("%s: nDCG@10 is %.3f", row.Name, mean)
		}
	}
	var out strings.Builder
	err = eval.Result{To: &out, Collection: "sample"}.Documents(t.Context(), service, "all.jsonl", rows)
	if err != nil || !strings.Contains(out.String(), "sample\tall, hybrid, 0 of 47 enriched\tnDCG@10\t0.") {
		t.Errorf("error %v, printed:\n%s", err, &out)
	}
}
