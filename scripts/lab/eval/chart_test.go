package eval_test

import (
	"os"
	"strings"
	"testing"

	"tasklens/scripts/lab/eval"
)

func TestPictureShowsTheRecordedResult(t *testing.T) {
	t.Parallel()
	result, err := os.Open("testdata/tickets.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var drawn strings.Builder
	if err := eval.Chart(&drawn, result); err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("../../../docs/search-quality.svg")
	if err != nil || drawn.String() != string(committed) {
		t.Errorf("docs/search-quality.svg is not that of testdata/tickets.tsv (%v): scripts/eval --chart scripts/lab/eval/testdata/tickets.tsv >docs/search-quality.svg", err)
	}
}
