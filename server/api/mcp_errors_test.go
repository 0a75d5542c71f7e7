package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// An invalid call returns an error result that names the argument.
func TestToolErrors(t *testing.T) {
	t.Parallel()
	s, _ := startShelf(t)
	for name, calls := range map[string]map[string]string{
		"search_tickets": {
			`{"query":"x","limit":1000}`: "/properties/limit: maximum: 1000", `{"query":"x","page":0}`: "/properties/page: minimum: 0", `{"query":"x","page":900}`: "page: must be at most 100 where limit is 10",
			`{"query":7}`: "/properties/query: type: 7 has type", `{}`: "query: must not be empty where there are no filters", `{"query":"x","filters":{"colour":1}}`: "filters.colour: is unknown. Allowed: statuses, projects, assignee, reporter, types, priorities, labels, created, updated, resolved, due, open, not.",
			`{"query":"x","sort":"best"}`: "/properties/sort: enum: best does not equal any of: [<nil> relevance newest updated]", `{"query":"x","fields":["nothing"]}`: "/properties/fields/items: enum: nothing does not equal any of: [ticket_key ticket_name status project_name text ticket_id",
			`{"quary":"x"}`: "additional properties [\"quary\"]", `{"query":"assignee:me"}`: "needs a user's token",
			`[]`: "unmarshaling arguments", `{"query":"x","fields":"text"}`: "/properties/fields: type: text has type",
		},
		"search":           {`{}`: `missing properties: ["query"]`, `{"query":""}`: "query: ", `{"query":null}`: `/properties/query: type`},
		"fetch":            {`{"id":"payment"}`: "id: must be one that search gave", `{"id":"https://example.com/issues/12"}`: "id: must be one", `{"id":"https://"}`: "id: must be one", `{"id":"TX-1000"}`: "There is no such ticket", `{"id":"ticket:TX-1000"}`: "There is no such ticket", `{"id":"document:x"}`: "id: must be a UUID", `{"id":"ticket:"}`: "id: must be", `{"id":"ticket:.."}`: "There is no such ticket"},
		"ask":              {`{"question":" "}`: "question: must have 1 to 2000", `{"question":"x","corpus":"documents","filters":{"open":true}}`: "filters: must be left out", `{"question":"x","top_k":99}`: "/properties/top_k: maximum: 99"},
		"find_duplicates":  {`{}`: "give either", `{"text":"x","ticket":"TX-400"}`: "give either", `{"ticket":"TX-1000"}`: "There is no such ticket", `{"text":" "}`: "text: must have", `{"ticket":"TX-400","filters":{"colour":1}}`: "filters.colour", `{"ticket":[]}`: "/properties/ticket: type: [] has type"},
		"search_documents": {`{"query":"x","threshold":7}`: "/properties/threshold: maximum: 7", `{"query":" "}`: "query: "},
		"find_entity":      {`{"name":" "}`: "name: must have", `{"name":"` + strings.Repeat("x", 300) + `"}`: "/properties/name: maxLength"},
		"list_values":      {`{"of":"colour"}`: "/properties/of: enum: colour", `{"limit":0}`: "/properties/limit: minimum: 0", `{"filters":{"colour":1}}`: "filters.colour: is unknown. Allowed: "},
		"list_projects":    {`{"limit":0}`: "/properties/limit: minimum: 0", `{"x":1}`: `additional properties ["x"]`},
	} {
		for arguments, want := range calls {
			result := s.tool(name, json.RawMessage(arguments))
			if text := result.Content[0].Text; !result.IsError || !strings.Contains(text, want) {
				t.Errorf("%s %s: %s", name, arguments, text)
			}
		}
	}
	// Null arguments are absent ones.
	for name, want := range map[string]string{"ask": `missing properties: ["question"]`, "search_tickets": "query: must not be empty"} {
		if r := s.tool(name, nil); !r.IsError || !strings.Contains(r.Content[0].Text, want) {
			t.Errorf("%s without arguments: %+v", name, r)
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
		"nonsense": http.StatusBadRequest, `[` + message("search", nil) + `]`: http.StatusBadRequest, `{}`: http.StatusBadRequest, "": http.StatusUnsupportedMediaType,
		strings.Repeat(" ", 1<<20) + "{}": http.StatusRequestEntityTooLarge, `{"jsonrpc":"2.0","id":1,"method":"nothing"}`: http.StatusBadRequest,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                     http.StatusAccepted,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`: http.StatusOK,
	} {
		r := s.send(http.MethodPost, "/mcp", body).want(status)
		if status == http.StatusOK && !strings.Contains(r.text, `"error":{"code":-32602`) {
			t.Errorf("%s: %s", body, r.text)
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
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if r := s.send(method, "/mcp", "").want(http.StatusMethodNotAllowed); r.header.Get("Allow") != "POST" {
			t.Errorf("Allow is %q", r.header.Get("Allow"))
		}
	}
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
