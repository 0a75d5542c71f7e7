package eval_test

import (
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/collection"
	"tasklens/scripts/lab/eval"
	"tasklens/scripts/lab/measure"
)

// A copy of PUMP-1 is flagged as its duplicate; PUMP-1 and PUMP-2, which one query duplicates, are
// compared as stored tickets.
func TestCheckDuplicates(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	service := eval.Service{URL: start(t, database, folder(t, map[string]string{"projects.jsonl": projects, "tickets.jsonl": tickets}))}
	queries := []collection.Query{
		{ID: "q1", Text: "Pump leaks at the shaft\n\nWater drips from the seal.", Judged: measure.Judged{"PUMP-1": 1}},
		{ID: "q2", Text: "leaking pump", Judged: measure.Judged{"PUMP-1": 1, "PUMP-2": 1}},
	}
	report, err := eval.CheckDuplicates(t.Context(), service, testbed.Connect(t, database.OwnerURL), queries, func(string) {})
	if err != nil || len(report.Rows) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	drafts, stored := report.Rows[0], report.Rows[1]
	if drafts.Asked != 2 || drafts.Judged[0]+drafts.Judged[1] != 3 || stored.Asked != 2 || stored.Judged[0]+stored.Judged[1] != 2 {
		t.Errorf("asked were %+v and %+v", drafts, stored)
	}
	// There is one project, so one half has everything.
	half := 0
	if drafts.Judged[1] > 0 {
		half = 1
	}
	flagged := 0
	for _, r := range drafts.Results[half] {
		if r.Likely {
			if flagged++; !r.Right || r.Query != "q1" {
				t.Errorf("flagged is %+v", r)
			}
		}
	}
	if flagged != 1 {
		t.Errorf("%d are flagged of %+v", flagged, drafts.Results[half])
	}
	if results := len(drafts.Results[half]); results != 6 || len(drafts.Results[1-half]) != 0 {
		t.Errorf("%d results of drafts: %+v", results, drafts)
	}
	if len(stored.Results[half]) != 4 || measure.Mean(stored.Ranking.Recall10) != 1 {
		t.Errorf("stored tickets: %+v", stored)
	}
	if len(report.Unknown) != 3 || report.Unknown[0].Score < report.Unknown[1].Score {
		t.Errorf("nobody judged %+v", report.Unknown)
	}
	var out strings.Builder
	if err := report.Print(&out, "pumps"); err != nil || !strings.Contains(out.String(), "2 stored tickets: nDCG@10") || !strings.Contains(out.String(), "half 2: likely_duplicate") {
		t.Errorf("%v: %s", err, out.String())
	}
}
