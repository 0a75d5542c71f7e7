package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// blanks are blank texts. Unicode has more white space than ASCII.
var blanks = []string{`""`, `"  "`, `"\t\r\n "`, `"\u00a0\u2003\u3000"`}

// A blank optional text is treated as absent, and surrounding white space is ignored, in the
// response and in the cache key.
func TestBlankTexts(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	const search, query = "/api/hybrid-search", "/api/query"
	same := func(path, like, body string) {
		t.Helper()
		first := s.send(http.MethodPost, path, like).want(http.StatusOK)
		again := s.send(http.MethodPost, path, body).want(http.StatusOK)
		if again.header.Get("Cache-Status") != fromMemory || strings.Replace(again.text, `"cached":true`, `"cached":false`, 1) != strings.Replace(first.text, `"cached":true`, `"cached":false`, 1) {
			t.Errorf("%s: is not as %s:\n%s\n%s", body, like, again.text, first.text)
		}
	}
	for _, blank := range blanks {
		same(search, `{"query":"charged twice"}`, `{"query":"charged twice","status_filter":`+blank+`,"fusion":`+blank+`,"retrieval":`+blank+`}`)
		for _, field := range []string{"status_filter", "corpus", "retrieval"} {
			same(query, `{"question":"Who was charged twice?"}`, fmt.Sprintf(`{"question":"Who was charged twice?",%q:%s}`, field, blank))
		}
		// A blank filter does not narrow documents either.
		same(query, `{"question":"Who was charged twice?","corpus":"documents"}`, `{"question":"Who was charged twice?","corpus":"documents","status_filter":`+blank+`}`)
	}
	same(search, `{"query":"charged twice","status_filter":"To Do"}`, `{"query":"charged twice","status_filter":"\u00a0 To Do\n"}`)
	same(query, `{"question":"Who was charged twice?","corpus":"all"}`, `{"question":"Who was charged twice?","corpus":" all "}`)
	same(query, `{"question":"Who was charged twice?","retrieval":"hybrid"}`, `{"question":"Who was charged twice?","retrieval":"\thybrid"}`)
}

// The same holds for the texts of a document.
func TestBlankTextsOfDocuments(t *testing.T) {
	t.Parallel()
	s := start(t)
	type document struct {
		ID            string
		TemporalClass *string `json:"temporal_class"`
	}
	for _, blank := range blanks {
		r := s.send(http.MethodPost, "/api/knowledge/documents", `{"title":"Pumps","content":" leak ","id":`+blank+`,"temporal_class":`+blank+`}`).want(http.StatusCreated)
		var written document
		if err := json.Unmarshal([]byte(r.text), &written); err != nil {
			t.Fatal(err)
		}
		if stored := read[document](s.get("/api/knowledge/documents/" + written.ID)); stored.TemporalClass != nil {
			t.Errorf("%s: the class is %q", blank, *stored.TemporalClass)
		}
	}
	const id = "00000000-0000-4000-8000-00000000000a"
	s.send(http.MethodPost, "/api/knowledge/documents", `{"title":"Pumps","content":"leak","id":" `+id+` ","temporal_class":" dated\n"}`).want(http.StatusCreated)
	if stored := read[document](s.get("/api/knowledge/documents/" + id)); stored.TemporalClass == nil || *stored.TemporalClass != "dated" {
		t.Errorf("stored is %+v", stored)
	}
}

// The same holds for query parameters: a form sends empty fields.
func TestBlankParameters(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	const id = "00000000-0000-4000-8000-00000000000a"
	s.post("/api/knowledge/documents", map[string]any{"id": id, "title": "Pumps", "content": "leak"}).want(http.StatusCreated)
	paths := map[string][]string{fmt.Sprintf("/api/tickets/%d/similar?", s.ids["TX-400"]): {"limit"},
		"/api/knowledge/search?q=pump&": {"hybrid", "limit", "threshold", "track"}, "/api/knowledge/entities/pump?": {"type", "limit"},
		"/api/knowledge/documents/" + id + "/similar?": {"limit"}}
	for path, names := range paths {
		want := s.get(path).want(http.StatusOK).text
		for _, name := range names {
			for _, blank := range []string{"", "=", "=%20", "=%C2%A0%E3%80%80"} {
				if got := s.get(path + name + blank).want(http.StatusOK).text; got != want {
					t.Errorf("%s%s%s: %s\nand not %s", path, name, blank, got, want)
				}
			}
		}
	}
	s.get("/api/knowledge/search?q=%20pump%20&limit=%205%20&hybrid=true%20").want(http.StatusOK)
	for path, field := range map[string]string{"search?q=": "q", "search?q=%C2%A0": "q", "search?q=pump&colour=": "colour", "search?q=pump&limit=&limit=5": "limit"} {
		if p := s.get("/api/knowledge/" + path).want(http.StatusBadRequest).problem(); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", path, p)
		}
	}
}
