package api_test

import (
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
