package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"tasklens/internal/index"
	"tasklens/server/api"
)

// oauth is a service with AUTH=on and an authorization server.
func oauth(c *setup) {
	authenticated(c)
	c.more = func(parts *api.Parts) { parts.Issuer = issuer }
}

type metadata struct {
	Resource string
	Servers  []string `json:"authorization_servers"`
}

// A request without a valid token learns where to get one.
func TestWhereTokensComeFrom(t *testing.T) {
	t.Parallel()
	s := start(t, oauth)
	place := s.url + "/.well-known/oauth-protected-resource/mcp"
	for _, c := range []struct {
		header []string
		want   string
	}{
		{nil, `Bearer resource_metadata="` + place + `"`},
		{asking("nonsense"), `Bearer resource_metadata="` + place + `", error="invalid_token"`},
	} {
		r := s.send(http.MethodPost, "/mcp", message("list_projects", nil), c.header...).want(http.StatusUnauthorized)
		if got := r.header.Get("WWW-Authenticate"); got != c.want {
			t.Errorf("WWW-Authenticate is %q, not %q", got, c.want)
		}
	}
	public := start(t, oauth, func(c *setup) {
		c.more = func(parts *api.Parts) { parts.Issuer, parts.PublicURL = issuer, "https://search.example.com" }
	})
	if got := read[metadata](public.get("/.well-known/oauth-protected-resource")); got.Resource != "https://search.example.com/mcp" || !slices.Equal(got.Servers, []string{issuer}) {
		t.Errorf("with an address of its own it is %+v", got)
	}
	off := start(t)
	off.get("/.well-known/oauth-protected-resource").want(http.StatusNotFound)
	off.get("/.well-known/oauth-protected-resource/mcp").want(http.StatusNotFound)
}

func origins(c *setup) { c.limits.Origins = []string{"https://app.example.com"} }

// A tool call counts once, whatever it requests, and so does every other message.
func TestToolCallsAreCounted(t *testing.T) {
	t.Parallel()
	s := startHouse(t, limited(3))
	token := asking(s.user(aViewer))
	s.send(http.MethodPost, "/mcp", message("list_projects", nil), token...).want(http.StatusOK).remaining("3", "2")
	s.send(http.MethodPost, "/mcp", message("search", map[string]any{"query": "payment"}), token...).want(http.StatusOK).remaining("3", "1")
	s.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, token...).want(http.StatusOK).remaining("3", "0")
	if r := s.send(http.MethodPost, "/mcp", message("list_projects", nil), token...).want(http.StatusTooManyRequests); r.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	s.get("/api/projects", token...).want(http.StatusTooManyRequests)
}

// A tool's inner requests take no further slot of those in flight.
func TestToolCallsTakeOnePlace(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.limits.InFlight = 1 })
	if r := s.tool("list_projects", nil); r.IsError {
		t.Errorf("it is refused: %s", r.Content[0].Text)
	}
}

// A caller whom every endpoint refuses gets no message of the protocol answered either.
func TestToolsKnowTheirCallers(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*service{"off": start(t), "on": start(t, authenticated)} {
		for token, status := range map[string]int{
			s.user(1): http.StatusOK, s.token("service_role"): http.StatusOK,
			s.user(1, "role", "anon"): http.StatusForbidden, "nonsense": http.StatusUnauthorized, s.user(1, "exp", 1): http.StatusUnauthorized,
		} {
			for _, method := range []string{"initialize", "tools/list", "ping", "tools/call"} {
				s.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"name":"list_projects","protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, asking(token)...).want(status)
			}
			if r := s.get("/api/projects", asking(token)...); r.status != status {
				t.Errorf("AUTH=%s: at /api the status is %d, not %d", name, r.status, status)
			}
		}
	}
}

// randomMembers makes projects, and users who are members of some of them, and returns which.
func (s *service) randomMembers(dice *rand.Rand, projectCount, userCount int) (members map[int][]int) {
	s.t.Helper()
	var projects []project
	var tickets []ticket
	for n := 1; n <= projectCount; n++ {
		key := fmt.Sprintf("T%d", n)
		projects = append(projects, project{Key: key, Name: labelled(n), Description: labelled(n)})
		for i := range 2 {
			tickets = append(tickets, ticket{Key: fmt.Sprintf("%s-%d", key, i), Project: key, Name: labelled(n), Description: labelled(n), Notes: []note{{Note: labelled(n)}}})
		}
	}
	s.load(projects, tickets)
	db := s.connect()
	for n := 1; n <= projectCount; n++ {
		id := s.ids[fmt.Sprintf("T%d", n)]
		sources := []index.Source{{ProjectID: id}}
		for i := range 2 {
			ticket := s.ids[fmt.Sprintf("T%d-%d", n, i)]
			sources = append(sources, index.Source{ProjectID: id, TicketID: &ticket})
			run(s.t, db, "insert into public.comments (ticket_id, author, body) values ($1, $2, $2)", ticket, labelled(n))
		}
		run(s.t, db, "update public.tickets set assignee = $2, reporter = $2, labels = array[$2], ticket_type = $2 where project_id = $1", id, labelled(n))
		// A link to a ticket that the reader may not see must not reveal it.
		run(s.t, db, "insert into public.ticket_links (ticket_id, kind, other_ticket_id) values ($1, 'relates_to', $2)",
			s.ids[fmt.Sprintf("T%d-0", n)], s.ids[fmt.Sprintf("T%d-1", n%projectCount+1)])
		if _, err := s.indexer.Index(s.t.Context(), s.rows, sources, false); err != nil {
			s.t.Fatal(err)
		}
	}
	members = map[int][]int{}
	for user := 1; user <= userCount; user++ {
		for n := 1; n <= projectCount; n++ {
			if user > 1 && dice.IntN(3) == 0 { // the first is a member of none
				members[user] = append(members[user], n)
				run(s.t, db, "insert into public.project_members (project_id, user_id, role) values ($1, $2, 'viewer')", s.ids[fmt.Sprintf("T%d", n)], userID(user))
			}
		}
	}
	return members
}

// Users with random memberships get no row of a project that is not theirs, from any tool, whatever
// they name.
func TestToolsShowNoForeignRows(t *testing.T) {
	t.Parallel()
	const projectCount, userCount = 8, 12
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 1))
	s := start(t, authenticated, func(c *setup) { c.threshold = 0.1 })
	members := s.randomMembers(dice, projectCount, userCount)
	var document string
	if err := s.connect().QueryRow(t.Context(), `insert into public.documents (title, content, named_entities) values
		('Shared payment note', 'The payment was charged twice.', '[{"name": "Ada", "type": "person"}]') returning id::text`).Scan(&document); err != nil {
		t.Fatal(err)
	}
	s.embedDocuments()
	var running sync.WaitGroup
	for user := 1; user <= userCount; user++ {
		dice := rand.New(rand.NewPCG(seed, uint64(user)+1))
		token, theirs := asking(s.user(user)), members[user]
		running.Go(func() {
			found := map[string]bool{}
			for i := range 3 * len(foreignCalls(1, "")) {
				n := 1 + dice.IntN(projectCount)
				calls := foreignCalls(n, document)
				c := calls[i%len(calls)]
				r := s.send(http.MethodPost, "/mcp", message(c.tool, c.arguments), token...).want(http.StatusOK)
				for _, tenant := range ofTenant.FindAllString(repeated.ReplaceAllString(r.text, ""), -1) {
					var whose int
					if _, err := fmt.Sscanf(tenant, "tenant-%d.", &whose); err != nil || !slices.Contains(theirs, whose) {
						t.Errorf("seed %d: %s %v shows the user %d, a member of %v, %s", seed, c.tool, c.arguments, user, theirs, tenant)
						return
					}
					found[c.tool] = true
				}
				if len(theirs) == 0 && strings.Contains(r.text, "Shared payment") {
					t.Errorf("seed %d: %s shows a document to the user %d, who is in no project", seed, c.tool, user)
				}
			}
			for _, tool := range []string{"list_projects", "search_tickets", "ask"} {
				if len(theirs) > 0 && !found[tool] {
					t.Errorf("seed %d: %s shows the user %d, a member of %v, nothing", seed, tool, user, theirs)
				}
			}
		})
	}
	running.Wait()
}

type toolCall struct {
	tool      string
	arguments map[string]any
}

// foreignCalls name a project and its tickets in every possible way.
func foreignCalls(n int, document string) []toolCall {
	key, all := fmt.Sprintf("T%d", n), []string{"assignee", "labels", "links", "comment", "type", "text", "highlight", "ticket_id"}
	return []toolCall{
		{"search", map[string]any{"query": "payment charged twice"}},
		{"search", map[string]any{"query": key + "-0"}},
		{"fetch", map[string]any{"id": "ticket:" + key + "-1"}},
		{"fetch", map[string]any{"id": fmt.Sprintf("ticket:%d", n)}},
		{"fetch", map[string]any{"id": "document:" + document}},
		{"search_tickets", map[string]any{"query": "payment charged twice", "limit": 50, "fields": all}},
		{"search_tickets", map[string]any{"query": "payment charged twice", "limit": 50}},
		{"search_tickets", map[string]any{"query": "payment charged twice", "limit": 1, "page": 2}},
		{"search_tickets", map[string]any{"query": "payment", "filters": map[string]any{"projects": []string{key}}, "fields": all}},
		{"search_tickets", map[string]any{"filters": map[string]any{"assignee": labelled(n)}, "fields": all}},
		{"search_tickets", map[string]any{"query": key + "-0 project:" + key}},
		{"list_values", nil},
		{"list_values", map[string]any{"query": "payment", "filters": map[string]any{"projects": []string{key}}}},
		{"fetch", map[string]any{"id": "https://tracker.example.com/browse/" + key + "-0"}},
		{"ask", map[string]any{"question": "why was the payment charged twice"}},
		{"ask", map[string]any{"question": "what of " + key + "-1, was the payment charged twice?", "corpus": "all", "top_k": 20}},
		{"ask", map[string]any{"question": "payment charged twice", "retrieval": "hybrid", "fields": []string{"comment", "text"}}},
		{"find_duplicates", map[string]any{"text": "payment charged twice", "limit": 50}},
		{"find_duplicates", map[string]any{"ticket": key + "-0"}},
		{"find_duplicates", map[string]any{"ticket": n}},
		{"search_documents", map[string]any{"query": "payment", "threshold": 0}},
		{"find_entity", map[string]any{"name": "Ada"}},
		{"list_projects", nil},
		{"list_projects", map[string]any{"limit": 1, "page": 2}},
		{"list_projects", nil},
	}
}

// hostile is a text without what Postgres cannot store.
func hostile(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// texts returns all strings in a value.
func texts(value any) (all []string) {
	switch value := value.(type) {
	case string:
		all = append(all, value)
	case []any:
		for _, element := range value {
			all = append(all, texts(element)...)
		}
	case map[string]any:
		for key, member := range value {
			all = append(append(all, key), texts(member)...)
		}
	case json.RawMessage:
		var decoded any
		if json.Unmarshal(value, &decoded) == nil {
			all = texts(decoded)
		}
	}
	return all
}
