package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/filter"
)

// startDetailed is the small tracker with people, types, labels, dates and a link. Noor is user 1.
func startDetailed(t testing.TB, changes ...func(*setup)) *service {
	t.Helper()
	s := startTracker(t, changes...)
	s.detail()
	return s
}

// detail adds these details to the loaded tickets.
func (s *service) detail() {
	s.t.Helper()
	db := s.connect()
	for _, c := range []struct{ key, set string }{
		{"IAM-97", `assignee = 'Noor', reporter = 'Ada', ticket_type = 'Bug', priority = 'High', labels = '{login,web}', created_at = '2025-01-10T12:00:00Z', updated_at = '2025-06-01'`},
		{"IAM-98", `assignee = 'ada', reporter = 'Noor', ticket_type = 'Bug', priority = 'Low', labels = '{Web}', created_at = '2025-02-10T12:00:00Z', updated_at = '2025-05-01', due_date = '2025-03-31'`},
		{"TX-400", `assignee = 'Noor', reporter = 'Ada', ticket_type = 'Bug', priority = 'High', labels = '{payments,cards}', created_at = '2025-03-10T12:00:00Z', updated_at = '2025-07-01'`},
		{"TX-401", `reporter = 'Wiktor', ticket_type = 'Task', labels = '{payments}', created_at = '2025-03-31T23:30:00Z', updated_at = '2025-04-01', due_date = '2025-04-15'`},
		{"TX-402", `assignee = 'Wiktor', ticket_type = 'Task', priority = 'High', labels = '{mail}', created_at = '2025-04-01T00:30:00Z', updated_at = '2025-04-02'`},
		{"TX-403", `assignee = 'Ada', ticket_type = 'Story', labels = '{payments,web}', created_at = now() - interval '3 days', updated_at = now()`},
	} {
		run(s.t, db, "update public.tickets set "+c.set+" where key = $1", c.key)
	}
	run(s.t, db, `insert into public.ticket_links (ticket_id, kind, other_ticket_id) values ($1, 'duplicates', $2)`, s.ids["TX-401"], s.ids["TX-400"])
}

// narrowedBy searches with a JSON body.
func (s *service) narrowedBy(body string, headers ...string) found {
	s.t.Helper()
	return read[found](s.send(http.MethodPost, "/api/hybrid-search", body, headers...))
}

// Every filter selects the same tickets in a list, a search, a question and a comparison, as JSON
// and as its operator if it has one.
func TestFilters(t *testing.T) {
	t.Parallel()
	s := startDetailed(t, forgetful)
	for _, c := range []struct {
		filters, operator string
		want              string // newest first
	}{
		{fmt.Sprintf(`{"projects":%d}`, s.ids["IAM"]), fmt.Sprintf("project:%d", s.ids["IAM"]), "IAM-98 IAM-97"},
		{`{"statuses":["to do","unheard of"]}`, `status:"to do","unheard of"`, "TX-403 TX-401 IAM-98"},
		{`{"open":true}`, "is:open", "TX-403 TX-402 TX-401 IAM-98"},
		{`{"open":false}`, "is:done", "TX-400 IAM-97"},
		{`{"assignee":["noor",null]}`, "assignee:noor no:assignee", "TX-401 TX-400 IAM-97"},
		{`{"types":["bug"],"priorities":"high"}`, "type:bug priority:high", "TX-400 IAM-97"},
		{`{"labels":["web","mail"]}`, "label:web,mail", "TX-403 TX-402 IAM-98 IAM-97"},
		{`{"labels":{"all":["payments","web"]}}`, "label:payments label:web", "TX-403"},
		{`{"created":{"from":"2025-03-10","to":"2025-03-31"}}`, "created:2025-03-10..2025-03-31", "TX-401 TX-400"},
		{`{"updated":{"from":"` + time.Now().UTC().AddDate(0, 0, -7).Format(time.DateOnly) + `"}}`, "updated:>7d", "TX-403"},
		{`{"due":{"to":"2025-03-31"}}`, "due:<2025-04-01", "IAM-98"},
		{`{"not":{"assignee":"noor","labels":["mail"]}}`, "-assignee:noor -label:mail", "TX-403 TX-401 IAM-98"},
		{`{"not":{"due":{"to":"2025-04-01"}},"open":true}`, "-due:<=2025-04-01 -is:done", "TX-403 TX-402 TX-401"},
	} {
		if got := strings.Join(s.narrowedBy(`{"query":"","filters":`+c.filters+`}`).names(), " "); got != c.want {
			t.Errorf("%s lists %s, not %s", c.filters, got, c.want)
		}
		if c.operator != "" {
			text, _ := json.Marshal(c.operator)
			got := s.narrowedBy(`{"query":` + string(text) + `}`)
			if names := strings.Join(got.names(), " "); names != c.want || got.ReadAs == nil || got.ReadAs.Text != "" {
				t.Errorf("%s lists %s, not %s: %+v", c.operator, names, c.want, got.ReadAs)
			}
		}
		want := strings.Fields(c.want)
		slices.Sort(want)
		same := func(what string, got []string, more ...string) {
			t.Helper()
			slices.Sort(got)
			if !slices.Equal(slices.Compact(got), want) {
				t.Errorf("%s: %s finds %q, not %q", c.filters, what, got, want)
			}
		}
		names := s.narrowedBy(`{"query":"payment","match_threshold":0,"filters":` + c.filters + `}`).names()
		same("a search", slices.DeleteFunc(names, func(name string) bool { return name == "Checkout" || name == "Identity" }))
		for _, how := range []string{`"mmr_lambda":1`, `"mmr_lambda":1,"corpus":"all"`} {
			var keys []string
			for _, source := range read[answered](s.send(http.MethodPost, "/api/query", `{"question":"payment","match_threshold":0,"top_k":20,"filters":`+c.filters+","+how+`}`)).Sources {
				if source.TicketKey != nil {
					keys = append(keys, *source.TicketKey)
				}
			}
			same("a question, "+how, keys)
		}
		same("a draft", read[alike](s.send(http.MethodPost, "/api/tickets/similar", `{"text":"payment","limit":20,"filters":`+c.filters+`}`)).keys())
		same("a ticket", append(s.similar("TX-402", "?limit=20&filters="+url.QueryEscape(c.filters)).keys(), slices.DeleteFunc([]string{"TX-402"}, func(key string) bool { return !slices.Contains(want, key) })...))
	}
}

// Filters in the query and in the body are combined, and the response reports how the query was
// parsed.
func TestFiltersInTheQuery(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	got := s.narrowedBy(`{"query":"payment is:open label:payments","filters":{"assignee":["Ada","Noor"]},"match_threshold":0,"status_filter":"to do"}`)
	if names := got.names(); !slices.Equal(names, []string{"TX-403"}) || got.ReadAs.Text != "payment" ||
		string(got.ReadAs.Filters) != `{"open":true,"labels":{"any":["payments"]}}` {
		t.Errorf("%q: %+v", names, got.ReadAs)
	}
	if inputs := s.model.inputs(t); inputs[len(inputs)-1] != "payment" {
		t.Errorf("embedded was %q", inputs[len(inputs)-1])
	}
	if got := s.narrowedBy(`{"query":"payment \"is:open\" http://x.example error:42"}`); got.ReadAs != nil {
		t.Errorf("text is read as %+v", got.ReadAs)
	}
	for _, body := range []string{`{"query":"is:open","filters":{"open":false},"facets":true}`, `{"query":"payment is:open","filters":{"open":false}}`, `{"query":"payment type:bug","filters":{"types":"task"}}`} {
		got := s.narrowedBy(body)
		if len(got.Results) > 0 || got.HasMore {
			t.Errorf("%s: %+v", body, got)
		}
	}
	for body, want := range map[string]string{
		`{"query":"x","filters":{"open":true,"types":[],"\u006fpen":false}}`: "filters.open: is given twice",
		`{"query":"x","filters":{"not":{"labels":{"any":"a","any":"b"}}}}`:   "filters.not.labels.any: is given twice",
		`{"query":"","filters":{"types":[]}}`:                                "query: must not be empty where there are no filters",
		`{"query":"x","filters":{"colour":"red","created":{"from":"soon"}}}`: "filters.colour: is unknown. Allowed: statuses, projects, assignee, reporter, types, priorities, labels, created, updated, resolved, due, open, not",
	} {
		if told := told(s.send(http.MethodPost, "/api/hybrid-search", body)); told != want {
			t.Errorf("%s: %s", body, told)
		}
	}
	for path, body := range map[string]string{
		"/api/query": `{"question":"why","filters":{"open":"yes"}}`, "/api/tickets/similar": `{"text":"x","filters":{"open":"yes"}}`,
	} {
		if told := told(s.send(http.MethodPost, path, body)); told != "filters.open: is of type string. Use true or false" {
			t.Errorf("%s: %s", path, told)
		}
	}
	for query, want := range map[string]string{"open": "filters: must be a JSON object", `{"open":1}`: "filters.open: is of type number. Use true or false", `{"open":true`: "filters: must be a JSON object", `{"open":true} {}`: "filters: must be a JSON object",
		`{"open":true,"open":false}`: "filters.open: is given twice", `{"types":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}": "filters: must be a JSON object: it must have at most 4000 names"} {
		if told := told(s.get(fmt.Sprintf("/api/tickets/%d/similar?filters=%s", s.ids["TX-400"], url.QueryEscape(query)))); !strings.HasPrefix(told, want) {
			t.Errorf("%s: %s", query, told)
		}
	}
}

// told returns the message for each rejected field.
func told(r *response) string {
	r.t.Helper()
	var fields []string
	for _, e := range r.want(http.StatusBadRequest).problem().Errors {
		fields = append(fields, e.Field+": "+e.Message)
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}

// Facet values can be used as filters, typed or not, and results show what is filtered by.
func TestFacetsGiveFilters(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	run(t, s.connect(), `do $$ declare field text; begin
		for field in select source from tasklens.ticket_members where kind in ('person', 'text') loop
			execute format('update public.tickets set %1$I = coalesce(%1$I, ''Some '' || %1$L) where key = ''TX-400''', field);
		end loop; end $$`) // every field of names has a value
	const query = "payment charged password slow"
	facets := s.narrowedBy(`{"query":"` + query + `","match_threshold":0,"facets":true}`).Facets
	check := func(facet string, body map[string]any, count int) []map[string]any {
		t.Helper()
		body["match_threshold"], body["limit"] = 0, 100
		results := read[struct{ Results []map[string]any }](s.post("/api/hybrid-search", body)).Results
		if len(results) != count {
			t.Errorf("%s: %d are counted, %d found by %v", facet, count, len(results), body)
		}
		return results
	}
	members := map[string]string{"label": "labels", "open": "open"}
	for _, member := range new(filter.Members).Typed() {
		if _, is := member.Value.(*filter.Values); is {
			members[member.Typed] = member.Name
		}
	}
	for facet, member := range members {
		if len(facets[facet]) == 0 {
			t.Errorf("there is no facet %s", facet)
		}
		for _, value := range facets[facet] {
			wanted := value.Value
			if facet == "status" {
				wanted = value.Label
			}
			check(facet, map[string]any{"query": query, "filters": map[string]any{member: wanted}}, value.Count)
			if facet == "open" || facet == "project" { // typed in other words
				continue
			}
			for _, result := range check(facet, map[string]any{"query": fmt.Sprintf("%s %s:%q", query, facet, value.Label)}, value.Count) {
				if shown, _ := result[facet].(string); facet != "label" && !strings.EqualFold(shown, value.Label) {
					t.Errorf("a result with the %s %q shows %q", facet, value.Label, shown)
				}
			}
		}
	}
	raw := s.post("/api/hybrid-search", map[string]any{"query": "xyzzy", "match_threshold": 1, "facets": true}).want(http.StatusOK).text
	if !strings.Contains(raw, `"facets":{"project":[],"status":[]},"executed"`) {
		t.Errorf("without a match: %s", raw)
	}
}

// "me" is the token's user, and is an error without a token.
func TestFiltersOfMe(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated)
	s.load(trackerProjects, trackerTickets)
	s.detail()
	db := s.connect()
	for n := 1; n <= 2; n++ {
		run(t, db, `insert into public.project_members (project_id, user_id, role) values ($1, $3, 'viewer'), ($2, $3, 'viewer')`, s.ids["TX"], s.ids["IAM"], userID(n))
	}
	noor := asking(s.user(1, "email", "noor@example.com", "user_metadata", map[string]any{"full_name": "NOOR"}))
	ada := asking(s.user(2, "user_metadata", map[string]any{"name": "Ada"}))
	for want, headers := range map[string][]string{"TX-400 IAM-97": noor, "TX-403 IAM-98": ada} {
		for _, body := range []string{`{"query":"assignee:me"}`, `{"query":"","filters":{"assignee":"ME"}}`, `{"query":"assignee:@me"}`} {
			if names := strings.Join(s.narrowedBy(body, headers...).names(), " "); names != want {
				t.Errorf("%s finds %s, not %s", body, names, want)
			}
		}
	}
	service := asking(s.token("service_role"))
	const needs = `: nobody is signed in, so "me" is unknown. Give the name of the person, or sign in`
	for path, body := range map[string]string{
		"/api/hybrid-search": `{"query":"timeout -assignee:me"}`, "/api/query": `{"question":"why","filters":{"not":{"assignee":["x","me"]}}}`,
		"/api/tickets/similar": `{"text":"x","filters":{"not":{"assignee":"me"}}}`,
	} {
		if told := told(s.send(http.MethodPost, path, body, service...)); told != "filters.not.assignee"+needs {
			t.Errorf("%s: %s", path, told)
		}
	}
	if told := told(s.get(fmt.Sprintf("/api/tickets/%d/similar?filters=%s", s.ids["TX-400"], url.QueryEscape(`{"reporter":"me"}`)), service...)); told != "filters.reporter"+needs {
		t.Errorf("similar: %s", told)
	}
}
