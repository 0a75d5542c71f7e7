package collection_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/scripts/lab/collection"
	"tasklens/scripts/lab/measure"
)

// folder returns a folder with files of these names and texts. Names that end in .gz are gzipped.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	path := t.TempDir()
	for name, text := range files {
		content := []byte(text)
		if strings.HasSuffix(name, ".gz") {
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			if _, err := w.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			content = zipped.Bytes()
		}
		if err := os.WriteFile(filepath.Join(path, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const (
	header      = "query_id\tticket_id\trelevance\n"
	twoQueries  = `{"query_id":"q1","text":"the pump leaks"}` + "\n" + `{"query_id":"q2","text":"no judgement"}` + "\n"
	twoRelevant = header + "q1\tAB-1\t1\nq1\tAB-2\t2\nq2\tAB-3\t0\nq9\tAB-1\t1\n"
)

func TestQueriesComeWithTheirJudgements(t *testing.T) {
	t.Parallel()
	// q2 has no relevant tickets; q9 is not a query.
	want := []collection.Query{{ID: "q1", Text: "the pump leaks", Judged: measure.Judged{"AB-1": 1, "AB-2": 2}}}
	for _, name := range []string{"queries.jsonl", "queries.jsonl.gz"} {
		got, err := collection.Read(folder(t, map[string]string{name: twoQueries, "qrels.tsv": strings.ReplaceAll(twoRelevant, "\n", "\r\n")}))
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
		"not JSON":               {twoQueries + "oops", twoRelevant, "query 3"},
		"a query without text":   {`{"query_id":"q1","text":" "}`, twoRelevant, "query 1"},
		"a query twice":          {twoQueries + twoQueries, twoRelevant, "query 3"},
		"no header":              {twoQueries, "q1\tAB-1\t1\n", "must begin with"},
		"two columns":            {twoQueries, header + "q1\tAB-1\n", "qrels.tsv:2"},
		"relevance in words":     {twoQueries, header + "q1\tAB-1\tyes\n", "qrels.tsv:2"},
		"relevance not a number": {twoQueries, header + "q1\tAB-1\tNaN\n", "qrels.tsv:2"},
		"nothing relevant":       {twoQueries, header + "q1\tAB-1\t0\n", "no query with a relevant ticket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := collection.Read(folder(t, map[string]string{"queries.jsonl": test.queries, "qrels.tsv": test.qrels}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %v does not say %q", err, test.want)
			}
		})
	}
}
