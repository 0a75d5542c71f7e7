package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// A project's language is set and taken back; what is not one is refused with the list.
func TestSetProjectLanguage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load([]project{{Key: "A", Name: "a"}}, nil)
	path := "/api/projects/1/language"
	for _, body := range []map[string]any{{"language": "french"}, {"language": nil}, {"language": "german"}, {}} {
		s.post(path, body).want(http.StatusNoContent)
		listed := read[struct {
			Results []struct{ Language any }
		}](s.get("/api/projects"))
		if got := listed.Results[0].Language; got != body["language"] {
			t.Errorf("after %v the language is %v", body, got)
		}
	}
	refused := s.post(path, map[string]any{"language": "klingon"}).want(http.StatusBadRequest)
	if p := refused.problem(); len(p.Errors) != 1 || p.Errors[0].Field != "language" || !strings.HasPrefix(p.Errors[0].Message, `is "klingon". Use arabic`) {
		t.Errorf("an unknown language: %s", refused.text)
	}
	s.post("/api/projects/2/language", map[string]any{"language": "french"}).want(http.StatusNotFound)
}
