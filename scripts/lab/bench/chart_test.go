package bench_test

import (
	"os"
	"strings"
	"testing"

	"tasklens/scripts/lab/bench"
)

func TestPictureShowsTheRecordedResult(t *testing.T) {
	t.Parallel()
	result, err := os.Open("testdata/speed.md")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var drawn strings.Builder
	if err := bench.Chart(&drawn, result); err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("../../../docs/search-speed.svg")
	if err != nil || drawn.String() != string(committed) {
		t.Errorf("docs/search-speed.svg is not that of testdata/speed.md (%v): scripts/bench --chart scripts/lab/bench/testdata/speed.md >docs/search-speed.svg", err)
	}
}
