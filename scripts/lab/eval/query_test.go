package eval_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/scripts/lab/eval"
	"tasklens/scripts/lab/measure"
)

const (
	header      = "query_id\tticket_id\trelevance\n"
	twoQueries  = `{"query_id":"q1","text":"the pump leaks"}` + "\n" + `{"query_id":"q2","text":"no judgement"}` + "\n"
	twoRelevant = header + "q1\tAB-1\t1\nq1\tAB-2\t2\nq2\tAB-3\t0\nq9\tAB-1\t1\n"
)

func TestQueriesComeWithTheirJudgements(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(twoQueries)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	// q2 has no relevant tickets; q9 is not a query.
	want := []eval.Query{{ID: "q1", Text: "the pump leaks", Judged: measure.Judged{"AB-1": 1, "AB-2": 2}}}
	for name, text := range map[string]string{"queries.jsonl": twoQueries, "queries.jsonl.gz": zipped.String()} {
		got, err := eval.ReadQueries(folder(t, map[string]string{name: text, "qrels.tsv": strings.ReplaceAll(twoRelevant, "\n", "\r\n")}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBadCollectionIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ queries, qrels, want string }{
		"not JSON":            {twoQueries + "oops", twoRelevant, "question 3"},
		"a query twice":       {twoQueries + twoQueries, twoRelevant, "question 3"},
		"no header":           {twoQueries, "q1\tAB-1\t1\n", "must begin with"},
		"two columns":         {twoQueries, header + "q1\tAB-1\n", "qrels.tsv:2"},
		"relevance in words":  {twoQueries, header + "q1\tAB-1\tyes\n", "qrels.tsv:2"},
		"nothing is relevant": {twoQueries, header + "q1\tAB-1\t0\n", "no query with a relevant ticket"},
	} {
		_, err := eval.ReadQueries(folder(t, map[string]string{"queries.jsonl": test.queries, "qrels.tsv": test.qrels}))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error %v does not say %q", name, err, test.want)
		}
	}
}
