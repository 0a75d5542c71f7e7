package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/memo"
)

// tooled is a tool's result.
type tooled struct {
	Content []struct {
		Type, Text string
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

// message is a JSON-RPC request that calls a tool.
func message(tool string, arguments any) string {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// tool calls a tool by plain HTTP.
func (s *service) tool(name string, arguments any, headers ...string) tooled {
	s.t.Helper()
	body := read[struct{ Result tooled }](s.send(http.MethodPost, "/mcp", message(name, arguments), headers...))
	if len(body.Result.Content) != 1 || body.Result.Content[0].Type != "text" || body.Result.IsError != (body.Result.Structured == nil) {
		s.t.Errorf("%s %v: %+v", name, arguments, body.Result)
	}
	return body.Result
}

// structured returns a tool's structured content.
func structured[T any](s *service, name string, arguments any, headers ...string) (value T) {
	s.t.Helper()
	result := s.tool(name, arguments, headers...)
	if result.IsError {
		s.t.Errorf("%s %v: %s", name, arguments, result.Content[0].Text)
	} else if err := json.Unmarshal(result.Structured, &value); err != nil {
		s.t.Error(err)
	}
	return value
}

type foundTickets struct {
	Results []struct {
		Key string `json:"ticket_key"`
	}
	NextPage *int `json:"next_page"`
}

// startShelf starts a service with tickets and documents.
func startShelf(t *testing.T, changes ...func(*setup)) (s *service, documents map[string]string) {
	t.Helper()
	s = startTracker(t, changes...)
	return s, s.shelve(notes...)
}

type fetched struct {
	ID, Title, Text, URL string
	Metadata             map[string]any
}

func sameJSON(t *testing.T, one, other []byte) bool {
	t.Helper()
	var a, b any
	if json.Unmarshal(one, &a) != nil || json.Unmarshal(other, &b) != nil {
		return false
	}
	return cmp.Equal(a, b)
}

// A long ticket is read in pages that add up to it.
func TestFetchPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	long := strings.Repeat("Zürich pays twice. ", 1200)
	s.load([]project{{Key: "TX", Name: "Checkout"}}, []ticket{{Key: "TX-1", Project: "TX", Name: "Long", Description: long, Notes: []note{{Note: "A note."}}}})
	run(t, s.connect(), "insert into public.comments (ticket_id, author, body) values ($1, 'Ada', 'The last word.')", s.ids["TX-1"])
	var whole strings.Builder
	pages := 1
	for page := 1; page <= pages; page++ {
		read := structured[fetched](s, "fetch", map[string]any{"id": "ticket:tx-1", "page": page})
		pages = int(read.Metadata["pages"].(float64))
		_, data, _ := strings.Cut(read.Text, ">\n")
		data, _, _ = strings.Cut(data, "\n</data-")
		if len(read.Text) > 9000 {
			t.Errorf("page %d has %d bytes", page, len(read.Text))
		}
		whole.WriteString(data + " ")
	}
	squeezed := strings.Join(strings.Fields(whole.String()), "")
	if pages != 3 || !strings.Contains(squeezed, strings.ReplaceAll(strings.TrimSpace(long), " ", "")) || !strings.Contains(squeezed, "Anote.") || !strings.HasSuffix(squeezed, "Thelastword.") {
		t.Errorf("%d pages have %d bytes", pages, whole.Len())
	}
	if r := s.tool("fetch", map[string]any{"id": "ticket:TX-1", "page": 4}); !r.IsError || !strings.Contains(r.Content[0].Text, "page: this text has 3") {
		t.Errorf("beyond the last page: %+v", r)
	}
}

// Long comments cost a bounded response: each is cut, says so, and can be read by its id.
func TestFetchLongComments(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load([]project{{Key: "TX", Name: "Checkout"}}, []ticket{{Key: "TX-1", Project: "TX", Name: "Long"}})
	run(t, s.connect(), "insert into public.comments (comment_id, ticket_id, body) select 100 + n, $1, repeat(repeat('c', 29) || ' ', 33334) || 'end' from generate_series(1, 25) n", s.ids["TX-1"])
	if whole := s.get("/api/tickets/TX-1?limit=100").want(http.StatusOK); len(whole.text) > 500_000 {
		t.Errorf("the ticket's response has %d bytes", len(whole.text))
	}
	last := structured[fetched](s, "fetch", map[string]any{"id": "ticket:TX-1", "page": 32})
	if last.Metadata["pages"] != 32.0 || !strings.Contains(last.Text, "(Cut after 2000 characters. More with comment=125.)") {
		t.Errorf("the last page is %.300q … %q, %v", last.Text, last.Text[max(0, len(last.Text)-300):], last.Metadata["pages"])
	}
	one := structured[fetched](s, "fetch", map[string]any{"id": "ticket:TX-1", "comment": 125, "page": 26})
	if one.Metadata["pages"] != 26.0 || !strings.Contains(one.Text, "c\n(Cut after 200000 characters.)") {
		t.Errorf("the comment's last page is %q, %v", one.Text, one.Metadata["pages"])
	}
	for _, wrong := range []map[string]any{{"id": "ticket:TX-1", "comment": 99}, {"id": "document:x", "comment": 125}, {"id": "ticket:TX-1", "comment": 0}} {
		if r := s.tool("fetch", wrong); !r.IsError || !strings.Contains(r.Content[0].Text, "comment") {
			t.Errorf("%v: %+v", wrong, r)
		}
	}
}

// Pages of a search are consecutive.
func TestSearchTicketsPages(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	seen := map[string]bool{}
	page, pages := 1, 0
	for ; page > 0 && pages < 50; pages++ {
		found := structured[foundTickets](s, "search_tickets", map[string]any{"filters": map[string]any{"projects": []string{"TX", "IAM"}}, "limit": 3, "page": page})
		for _, r := range found.Results {
			if seen[r.Key] || !strings.HasPrefix(r.Key, "TX-") && !strings.HasPrefix(r.Key, "IAM-") {
				t.Errorf("%s comes on page %d", r.Key, page)
			}
			seen[r.Key] = true
		}
		page = 0
		if found.NextPage != nil {
			page = *found.NextPage
		}
	}
	if pages < 2 || len(seen) != 3*(pages-1)+1 && len(seen) != 3*(pages-1)+2 && len(seen) != 3*pages {
		t.Errorf("%d pages have %d tickets", pages, len(seen))
	}
}

// A tool call is one request, logged and cached like one to the endpoint of its operation.
func TestToolsAreRequests(t *testing.T) {
	t.Parallel()
	s := startTracker(t, counting, logging)
	arguments := map[string]any{"query": "resolve login issue"}
	s.tool("search_tickets", arguments, "X-Request-Id", "first-call")
	s.tool("search_tickets", arguments)
	s.post("/api/hybrid-search", map[string]any{"query": "resolve login issue"}).want(http.StatusOK)
	if made, hits := s.cached.of("hybrid-search", memo.Stored), s.cached.of("hybrid-search", memo.Hit); made != 1 || hits != 2 {
		t.Errorf("%d results were computed and %d cached ones sent, want 1 and 2", made, hits)
	}
	s.counted(duration("POST", "/mcp", "2xx")+"2", duration("POST", "/api/hybrid-search", "2xx")+"1")
	if _, is := s.queryLog()["first-call"]; !is {
		t.Error("the query log lacks it")
	}
}
