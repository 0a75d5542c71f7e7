package eval_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/collection"
	"tasklens/internal/knowledge"
	"tasklens/internal/load"
	"tasklens/internal/measure"
	"tasklens/internal/notefile"
	"tasklens/internal/testbed"
	"tasklens/internal/threshold"
	"tasklens/internal/ticketfile"
	"tasklens/internal/tokenizer"
	"tasklens/scripts/lab/eval"
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
	tokens, err := tokenizer.Load()
	if err != nil {
		t.Fatal(err)
	}
	measured, err := threshold.MeasureAndStore(t.Context(), service.Database, service.Model, tokens, []string{offline.EmbeddingModel})
	if err != nil {
		t.Fatal(err)
	}
	return measured
}

func loadFolder(t *testing.T, service apitest.Service, path string) {
	t.Helper()
	rows, err := ticketfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = load.Load(t.Context(), service.Database, service.Indexer, rows,
		load.Report{BadRow: func(row *ticketfile.RowError) { t.Error(row) }, BadField: func(field *ticketfile.RowError) { t.Error(field) },
			Failed: func(err error) { t.Error(err) }, Indexed: func(int) {},
			Began: func(string) {}, Refused: func(what string) { t.Error(what) }, Unknown: func(link string) { t.Error(link) },
			Unlisted: func(what string) { t.Error(what) }}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if folder := filepath.Join(path, eval.DocumentsFolder); notefile.Is(folder) {
		notes, err := notefile.Open(folder)
		if err == nil {
			_, err = knowledge.Import(t.Context(), service.Database, service.Indexer, notes.Notes(),
				knowledge.Reports{Bad: func(bad error) { t.Error(bad) }, Failed: func(err error) { t.Error(err) }, Done: func(int) {}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// One query has all of its words in PUMP-1. Of the other's two words, one occurs in PUMP-2 and one
// nowhere.
func TestARunMeasuresTheServiceAndTheReferences(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	run := eval.Run{
		Service:    eval.Service{URL: start(t, database, folder(t, map[string]string{"projects.jsonl": projects, "tickets.jsonl": tickets}))},
		Connection: testbed.Connect(t, database.OwnerURL),
		Queries: []collection.Query{
			{ID: "q1", Text: "leaking shaft", Judged: measure.Judged{"PUMP-1": 1}},
			{ID: "q2", Text: "valves jammed", Judged: measure.Judged{"PUMP-2": 1, "PUMP-9": 1}},
		},
		Progress: func(string) {},
	}
	report, err := run.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Projects != 1 || report.Tickets != 3 || report.Chunks != 4 || report.Queries != 2 || report.Missing != 1 || len(report.Latencies) != 2 {
		t.Errorf("described as %+v", report)
	}
	half := 1 / (1 + 1/math.Log2(3)) // one of two relevant tickets exists
	want := map[string][2]float64{   // nDCG@10 of the two queries
		"keyword alone":                 {1, half},
		"vector alone, threshold 0":     {1, half},
		"hybrid, rrf":                   {1, half},
		"hybrid, convex":                {1, half},
		"hybrid, threshold 0":           {1, half},
		"similar tickets, of a draft":   {1, half},
		"Postgres: all words, ts_rank":  {1, 0},
		"Postgres: any word, ts_rank":   {1, half},
		"BM25F: title × 3, description": {1, half},
	}
	for _, row := range report.Rows {
		expected, known := want[row.Name]
		if !known || len(row.NDCG10) != 2 || math.Abs(row.NDCG10[0]-expected[0]) > 1e-9 || math.Abs(row.NDCG10[1]-expected[1]) > 1e-9 {
			t.Errorf("%s has nDCG %v, want %v", row.Name, row.NDCG10, expected)
		}
		delete(want, row.Name)
	}
	if len(want) > 0 {
		t.Errorf("not ranked: %v", want)
	}
	var text strings.Builder
	if err := report.Print(&text, "pumps"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"pumps: 3 tickets in 1 projects, 4 chunks embedded by offline-embedding-3, 2 queries\n",
		"1 relevant tickets are not in the database",
		"Postgres: all words, ts_rank         0.500      0.500       0.500   0.500\n",
		"keyword alone − BM25F: title × 3, description",
		"hybrid, convex − hybrid, rrf  ",
		"   to choose by +0.",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("%q is not in:\n%s", line, &text)
		}
	}

	run.KeywordAlone = true
	if report, err = run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 4 || len(report.Latencies) != 0 || math.Abs(report.Rows[0].NDCG10[1]-half) > 1e-9 {
		t.Errorf("by keyword alone: %+v", report)
	}
}

func TestAnEmptyDatabaseIsNotMeasured(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	_, err := eval.Run{
		Service: eval.Service{URL: "http://127.0.0.1:1"}, Connection: testbed.Connect(t, database.OwnerURL),
		Queries: []collection.Query{{ID: "q", Text: "pump", Judged: measure.Judged{"PUMP-1": 1}}}, Progress: func(string) {},
	}.Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the database holds none") {
		t.Errorf("the run ended with %v", err)
	}
}
