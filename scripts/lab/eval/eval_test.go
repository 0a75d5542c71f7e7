package eval_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/load"
	"tasklens/internal/testbed"
	"tasklens/internal/threshold"
	"tasklens/internal/tokenizer"
	"tasklens/internal/worker"
	"tasklens/scripts/convert/export"
	"tasklens/scripts/lab/eval"
	"tasklens/scripts/lab/measure"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api/apitest"
)

const (
	projects = `{"project_id":"PUMP","name":"Waterworks"}`
	tickets  = `{"ticket_id":"PUMP-1","project_id":"PUMP","name":"Pump leaks at the shaft","description":"Water drips from the seal."}
{"ticket_id":"PUMP-2","project_id":"PUMP","name":"Valve stuck","description":"The valve of the leaking pump does not open."}
{"ticket_id":"PUMP-3","project_id":"PUMP","name":"Paint the fence","description":"Green, before spring."}
`
)

// start runs the service over the test's own database with the tickets of a folder, and returns its
// address.
func start(t *testing.T, database *testbed.DB, path string) string {
	t.Helper()
	service := apitest.Start(t, database, offline.NewHandler())
	// Measure the threshold as an import does. Otherwise the first requests would use the model's
	// default.
	measureThreshold(t, service)
	loadFolder(t, service, path)
	return service.URL
}

func measureThreshold(t *testing.T, service apitest.Service) []threshold.Measured {
	t.Helper()
	measured, err := threshold.MeasureMissing(t.Context(), service.Database, service.Model, tokenizer.Load(), []string{offline.EmbeddingModel}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return measured
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func loadFolder(t *testing.T, service apitest.Service, path string) {
	t.Helper()
	report := load.Report{Began: func(string) {}, Written: func(_, _ int) {}, Trouble: func(kind string, err error) { t.Errorf("%s: %v", kind, err) }}
	paths := []string{path}
	if documents := filepath.Join(path, eval.DocumentsFolder); isFolder(documents) {
		paths = append(paths, documents)
	}
	for _, path := range paths {
		if _, err := load.Load(t.Context(), service.Database, load.Rows(testbed.Convert(t, export.Options{}, path)), report, load.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		worker.New(service.Database, service.Indexer, worker.Options{Warn: func(_ context.Context, _ string, err error) { t.Error(err) }}).Run(ctx)
	})
	defer working.Wait()
	defer stop()
	for left := 1; left > 0; time.Sleep(10 * time.Millisecond) {
		status, err := worker.ReadStatus(t.Context(), service.Database, offline.EmbeddingModel)
		if err != nil {
			t.Fatal(err)
		}
		left = status.Pending + status.Running + status.Failed
	}
}

// One query has all of its words in PUMP-1. Of the other's two words, one occurs in PUMP-2 and one
// nowhere.
func TestARunMeasuresTheServiceAndTheReference(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	connection := testbed.Connect(t, database.OwnerURL)
	run := eval.Run{
		Service:    eval.Service{URL: start(t, database, folder(t, map[string]string{"projects.jsonl": projects, "tickets.jsonl": tickets}))},
		Connection: connection,
		Queries: []eval.Query{
			{ID: "q1", Text: "leaking shaft", Judged: measure.Judged{"PUMP-1": 1}},
			{ID: "q2", Text: "valves jammed", Judged: measure.Judged{"PUMP-2": 1, "PUMP-9": 1}},
		},
		Progress: func(string) {},
	}
	rows, err := run.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	half := 1 / (1 + 1/math.Log2(3)) // one of two relevant tickets exists
	want := map[string][]float64{    // nDCG@10 of the queries
		"keyword":                      {1, half},
		"vector":                       {1, half},
		"hybrid, rrf":                  {1, half},
		"hybrid, convex":               {1, half},
		"similar to a draft":           {1, half},
		"similar to a stored ticket":   {0}, // PUMP-2, whose duplicate does not exist
		"reference: any word, ts_rank": {1, half},
	}
	for _, row := range rows {
		expected, known := want[row.Name]
		if !known || !slices.EqualFunc(row.NDCG10, expected, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s has nDCG %v, want %v", row.Name, row.NDCG10, expected)
		}
		delete(want, row.Name)
	}
	if len(want) > 0 {
		t.Errorf("not ranked: %v", want)
	}
	var text strings.Builder
	result := eval.Result{To: &text, Collection: "pumps"}
	if err := result.Contents(t.Context(), connection); err != nil {
		t.Fatal(err)
	}
	if err := result.Rankings(rows, run.Queries); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"# pumps: embedded by words-1\n", "pumps\tcontents\tchunks\t4\n", "pumps\tkeyword\tqueries\t2\n",
		"pumps\treference: any word, ts_rank\tnDCG@10\t0.8066\n", "pumps\tsimilar to a draft\tlikely_duplicate, right\t",
		"# pumps: hybrid, rrf − keyword: nDCG@10 +0.0000 ± 0.0000; to check by (",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("%q is not in:\n%s", line, &text)
		}
	}
}
