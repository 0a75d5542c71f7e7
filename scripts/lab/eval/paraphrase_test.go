package eval_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/scripts/lab/eval"
)

func TestParaphrases(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{"first": {"A-1", "A-2", "A-3"}, "third": {"A-2", "A-3", "A-1"}, "none": {"A-2", "A-3", "A-4"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var query struct {
			Query string
			Limit int
		}
		if err := json.NewDecoder(r.Body).Decode(&query); err != nil {
			t.Error(err)
		}
		results := []map[string]any{}
		for _, key := range lists[query.Query][:query.Limit] {
			results = append(results, map[string]any{"ticket_key": key})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
	}))
	t.Cleanup(server.Close)
	var asked []eval.Asked
	for _, half := range eval.Halves {
		for _, question := range []string{"first", "third", "none"} {
			asked = append(asked, eval.Asked{Half: half, Question: question, Cite: []string{"A-9", "A-1"}})
		}
	}
	found, err := eval.CheckParaphrases(t.Context(), eval.Service{URL: server.URL}, asked)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (eval.Result{To: &out, Collection: "c"}).Paraphrases(found); err != nil {
		t.Fatal(err)
	}
	want := "c\tparaphrases, to choose by\tin the first three, of 3\t2\n# c: missed: none\nc\tparaphrases, to report by\tin the first three, of 3\t2\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
