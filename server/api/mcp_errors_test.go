package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// An invalid call returns an error result that names the argument. How arguments are read is tested
// in server/mcp.
func TestToolErrors(t *testing.T) {
	t.Parallel()
	s, _ := startShelf(t)
	for name, calls := range map[string]map[string]string{
		"search_tickets": {
			`{"query":"x","limit":1000}`: "limit: must be an integer from 1 to 50, not 1000. Correct", `{"query":"x","page":900}`: "page: must be at most 100 where limit is 10",
			`{}`: "query: must not be empty where there are no filters", `{"query":"assignee:me"}`: "nobody is signed in",
			`{"query":"x","filters":{"colour":1}}`:                   "filters.colour: is unknown. Allowed: statuses, projects, assignee, reporter, types, priorities, labels, created, updated, resolved, due, open, not.",
			`{"query":"x","filters":"{\"labels\":[\"a\\u0000b\"]}"}`: "filters: must not contain U+0000", `{"query":"x","filters":{"open":"perhaps"}}`: "filters.open: is of type string",
		},
		"search":           {`{}`: `query: is required`},
		"fetch":            {`{"id":"payment"}`: "id: must be one that a tool gave", `{"id":"https://example.com/issues/12"}`: "There is no such ticket", `{"id":"https://"}`: "There is no such ticket", `{"id":"TX-1000"}`: "There is no such ticket", `{"id":"ticket:TX-1000"}`: "There is no such ticket", `{"id":"document:x"}`: "id: must be a UUID", `{"id":"ticket:"}`: "id: must be", `{"id":"ticket:.."}`: "There is no such ticket"},
		"ask":              {`{"question":"x","corpus":"documents","filters":{"open":true}}`: "filters: must be left out"},
		"find_duplicates":  {`{}`: "give either", `{"text":"x","ticket":"TX-400"}`: "give either", `{"ticket":"TX-1000"}`: "There is no such ticket", `{"text":" "}`: "give either", `{"ticket":"TX-400","filters":{"colour":1}}`: "filters.colour"},
		"search_documents": {`{"query":" "}`: "query: "},
		"find_entity":      {`{"name":" "}`: "name: is required"},
		"list_values":      {`{"of":"colour"}`: `of: must be one of "project", "status"`, `{"filters":{"colour":1}}`: "filters.colour: is unknown. Allowed: "},
		"list_projects":    {`{"limit":0}`: "limit: must be an integer from 1 to 50, not 0"},
	} {
		for arguments, want := range calls {
			result := s.tool(name, json.RawMessage(arguments))
			if text := result.Content[0].Text; !result.IsError || !strings.Contains(text, want) {
				t.Errorf("%s %s: %s", name, arguments, text)
			}
		}
	}
	// A failure of the service is returned with advice.
	s.model.answer("embeddings", http.StatusInternalServerError, `{}`)
	if r := s.tool("find_duplicates", map[string]any{"text": "Paid twice"}); !r.IsError || !strings.Contains(r.Content[0].Text, "The model provider failed") || !strings.Contains(r.Content[0].Text, "request_id") {
		t.Errorf("the model fails: %+v", r)
	}
	if found := structured[struct{ Degraded []string }](s, "search_tickets", map[string]any{"query": "payment without a model"}); len(found.Degraded) == 0 {
		t.Error("a search without a model is not marked degraded")
	}
	if found := structured[struct {
		Degraded []string
		Results  []any
	}](s, "search", map[string]any{"query": "payment"}); len(found.Results) == 0 || !slices.Equal(found.Degraded, []string{"documents"}) {
		t.Errorf("a search of tickets and documents without a model: %+v", found)
	}
}

// An invalid message is a protocol error.
func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	s := start(t)
	for body, status := range map[string]int{
		`{}`: http.StatusBadRequest, "": http.StatusUnsupportedMediaType, strings.Repeat(" ", 1<<20) + "{}": http.StatusRequestEntityTooLarge,
	} {
		s.send(http.MethodPost, "/mcp", body).want(status)
	}
	// A request without its method looks like a response, and the service asks nothing.
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"params":{"name":"list_projects"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"method":""}`} {
		if got := told(s.send(http.MethodPost, "/mcp", body).want(http.StatusBadRequest)); got != "method: is required" {
			t.Errorf("%s: %s", body, got)
		}
	}
	// Decoding would keep the last of two members in silence.
	twice := s.send(http.MethodPost, "/mcp", message("search", json.RawMessage(`{"query":"a","query":"b"}`))).want(http.StatusBadRequest).problem()
	if len(twice.Errors) != 1 || twice.Errors[0].Field != "params.arguments.query" || twice.Errors[0].Message != "is given twice" {
		t.Errorf("an argument given twice: %+v", twice)
	}
	s.send(http.MethodPost, "/mcp?x=1", message("list_projects", nil)).want(http.StatusBadRequest)
	s.send(http.MethodPost, "/mcp", message("list_projects", nil), "Content-Encoding", "gzip").want(http.StatusUnsupportedMediaType)
	s.send(http.MethodPost, "/mcp", message("list_projects", nil), "Mcp-Protocol-Version", "1999-01-01").want(http.StatusBadRequest)
}

// A call that runs out of time has a result that says so, for the id that was asked with.
func TestToolsRunOutOfTime(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.requestTimeout = 300 * time.Millisecond })
	s.database.hang("list_projects")
	got := read[struct {
		ID     int
		Result tooled
	}](s.send(http.MethodPost, "/mcp", strings.Replace(message("list_projects", nil), `"id":1`, `"id":7`, 1)))
	if got.ID != 7 || !got.Result.IsError || len(got.Result.Content) != 1 || !strings.Contains(got.Result.Content[0].Text, "(code timeout)") {
		t.Errorf("the response is %+v", got)
	}
}
