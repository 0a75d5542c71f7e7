package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/answer"
	"tasklens/server/api"
)

func (s *service) answer(body string) answered {
	s.t.Helper()
	return read[answered](s.send(http.MethodPost, "/api/query", body))
}

// figures are those of an answer, after how the question was read.
func (f answered) figures() string {
	if f.ReadAs == nil {
		return "prose"
	}
	text := fmt.Sprint(f.ReadAs.Intent, " ", string(f.ReadAs.Filters), " ", f.ReadAs.Text)
	if f.Count != nil {
		text += fmt.Sprint(" ", *f.Count)
	}
	for _, ticket := range f.Tickets {
		text += " " + ticket.TicketKey
	}
	for _, group := range f.Groups {
		label := "-"
		if group.Label != nil {
			label = *group.Label
		}
		text += fmt.Sprint(" ", label, ":", group.Count)
	}
	return text
}

// Figures come from the database: the model calls its tool once, and is sent no row.
func TestQuestionsAboutFields(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	for body, want := range map[string]string{
		`{"question":"How many tickets are in Checkout?"}`:                                                                                           `count {"projects":["TX"]}  4 TX-403 TX-402 TX-401 TX-400`,
		`{"question":"How many tickets are in Checkout?","filters":{"types":"Task"}}`:                                                                `count {"projects":["TX"]}  2 TX-402 TX-401`,
		`{"question":"How many bugs are there?","project_id":` + fmt.Sprint(s.ids["TX"]) + `,"corpus":"all"}`:                                        `count {"types":["bug"]}  1 TX-400`,
		`{"question":"Which unassigned tickets mention payment?"}`:                                                                                   `list {"assignee":[null]} "payment" 1 TX-401`,
		`{"question":"How many tickets were created in March 2025?","time_zone":"Europe/Berlin"}`:                                                    `count {"created":{"from":"2025-03-01T00:00:00+01:00","to":"2025-04-01T00:00:00+02:00"}}  1 TX-400`,
		`{"question":"And per type?","messages":[{"role":"user","content":"How many tickets are in Checkout?"},{"role":"assistant","content":"4"}]}`: `group {"projects":["TX"]}  4 Task:2 Bug:1 Story:1`,
		`{"question":"How many tickets of Wictor are there?"}`:                                                                                       `count {"assignee":["Wiktor"]}  1 TX-402`,
	} {
		got := s.answer(body)
		if got.figures() != want {
			t.Errorf("%s: %s, want %s", body, got.figures(), want)
		}
		if len(got.Sources) != len(got.Tickets) || got.LowSimilarity || slices.ContainsFunc(got.Sources, func(source source) bool { return !source.Cited || !strings.Contains(got.Answer, *source.TicketKey) }) {
			t.Errorf("%s: sources are %+v of %q", body, got.Sources, got.Answer)
		}
		// The same list in Search.
		search, _ := json.Marshal(map[string]any{"query": got.ReadAs.Text, "filters": got.ReadAs.Filters, "retrieval": "keyword", "sort": "newest"})
		if got.ReadAs.Text != "" {
			if page := s.narrowedBy(string(search)); strings.Join(page.names(), " ") != "TX-401" {
				t.Errorf("%s: Search lists %q", search, page.names())
			}
		}
	}
	if again := s.answer(`{"question":"How many tickets are in Checkout?"}`); !again.Cached || *again.Count != 4 {
		t.Errorf("asked again: %+v", again)
	}
	if got := s.answer(`{"question":"Who has it?","messages":[{"role":"user","content":"What is the oldest task?"},{"role":"assistant","content":"TX-401 Refund"}]}`); got.ReadAs != nil || got.Question != "What is the oldest task?\nTX-401" {
		t.Errorf("a follow-up about a ticket is %+v", got)
	}
	if got := s.answer(`{"question":"Why?","messages":[{"role":"user","content":"How many tickets per week?"},{"role":"assistant","content":"2 tickets, by created:\n- 2025-03-03 2"}]}`); got.Question != "How many tickets per week?" {
		t.Errorf("a day is no ticket of a follow-up: %+v", got)
	}
	if got := s.answer(`{"question":"How many tickets of Zork are there?"}`); got.Count != nil || string(got.Candidates) != `[{"member":"assignee","value":"Zork","names":[]}]` || !got.LowSimilarity {
		t.Errorf("a name that nobody has: %+v, %s", got, got.Candidates)
	}
	if got := s.answer(`{"question":"How many tickets are open?","filters":{"projects":["NOPE"]}}`); got.Count != nil || string(got.Candidates) != `[{"member":"projects","value":"NOPE","names":[]}]` || !strings.Contains(got.Answer, `There is no project "NOPE"`) {
		t.Errorf("a project that does not exist: %+v, %s", got, got.Candidates)
	}
	if got := s.answer(`{"question":"How many tickets were created in 2031?","filters":{"projects":["TX"]}}`); got.Count == nil || *got.Count != 0 || got.Candidates != nil {
		t.Errorf("none of a project: %+v, %s", got, got.Candidates)
	}
	if got := s.answer(`{"question":"How many tickets are in Checkout?","filters":{"types":"Task"}}`); !strings.HasPrefix(got.Answer, "2 tickets match type:Task project:TX, the latest created first:") {
		t.Errorf("within filters: %q", got.Answer)
	}
	for _, more := range []string{`"corpus":"documents"`, `"figures":false`} {
		if got := s.answer(`{"question":"How many tickets are in Checkout?",` + more + `}`); got.ReadAs != nil {
			t.Errorf("with %s: %+v", more, got)
		}
	}
}

// A reading that was sent back, as it was or changed, is counted without a model.
func TestRereadQuestions(t *testing.T) {
	t.Parallel()
	s := startDetailed(t, forgetful)
	first := read[map[string]json.RawMessage](s.send(http.MethodPost, "/api/query", `{"question":"How many tickets are in Checkout?"}`))
	asked := s.traffic()
	for reading, want := range map[string]string{
		string(first["read_as"]): `count {"projects":["TX"]}  4 TX-403 TX-402 TX-401 TX-400`,
		`{"intent":"count","filters":{"projects":["TX"],"types":"task"}}`:                                            `count {"projects":["TX"],"types":["task"]}  2 TX-402 TX-401`,
		`{"intent":"list","text":"payment -refund","filters":null,"sort":"updated"}`:                                 `list {} payment -refund 2 TX-403 TX-400`,
		`{"intent":"group","group_by":"type","filters":{"projects":["Checkout"]}}`:                                   `group {"projects":["TX"]}  4 Task:2 Bug:1 Story:1`,
		`{"intent":"group","group_by":"created","period":"year","ascending":true}`:                                   `group {}  6 2025:5 2026:1`,
		`{"intent":"list","limit":1,"ascending":true,"filters":{"created":{"from":"2025-03-01","to":"2025-03-31"}}}`: `list {"created":{"from":"2025-03-01","to":"2025-03-31"}}  2 TX-400`,
		`{"intent":"count","filters":{"labels_all":"payments","labels":" ","statuses":[""]}}`:                        `count {"labels":{"all":["payments"]}}  3 TX-403 TX-401 TX-400`,
		`{"intent":"count","filters":{"assignee":["Zork"]}}`:                                                         `count {"assignee":["Zork"]} `,
	} {
		if got := s.answer(`{"question":"Wie viele?","read_as":` + reading + `}`); got.figures() != want || got.Question != "" {
			t.Errorf("%s: %s, want %s", reading, got.figures(), want)
		}
	}
	if now := s.traffic(); now["embeddings"] != asked["embeddings"] || now["completions"] != asked["completions"] || asked["completions"] != 1 {
		t.Errorf("the provider was asked: %v, then %v", asked, now)
	}
	for reading, want := range map[string]string{
		`{"intent":"sum"}`:                                        `read_as.intent: must be "count", "list" or "group"`,
		`{"intent":"group"}`:                                      "read_as.group_by: must be a field to group by: " + strings.Join(answer.GroupedBy(), ", "),
		`{"intent":"count","votes":3}`:                            "read_as.votes: is not a field of this request",
		`{"intent":"count","filters":{"votes":3}}`:                "read_as.filters: must be a JSON object with members that are listed",
		`{"intent":"count","filters":{"not":{"votes":3}}}`:        "read_as.filters: must be a JSON object with members that are listed",
		`{"intent":"count","filters":{"types":["a\u0000b"]}}`:     "read_as.filters.types[0]: must not contain U+0000",
		`{"intent":"count","filters":{"created":{"from":"May"}}}`: `read_as.filters.created.from: is "May". Use a date (2025-03-31) or a time with its zone (2025-03-31T12:00:00Z)`,
		`{}`: "read_as.intent: is required",
		`{"intent":"count","filters":{"labels":[1` + strings.Repeat(",1", 50) + `]}}`: "read_as.filters: must be a JSON object with members that are listed",
		`[]`: "read_as: must be a JSON object with members that are listed",
	} {
		if got := told(s.send(http.MethodPost, "/api/query", `{"question":"Wie viele?","read_as":`+reading+`}`)); got != want {
			t.Errorf("%s: %q, want %q", reading, got, want)
		}
	}
	if got := told(s.send(http.MethodPost, "/api/query", `{"question":"Wie viele?","corpus":"documents","read_as":{"intent":"count"}}`)); got != "read_as: must be left out where only documents are asked" {
		t.Error(got)
	}
	if got := told(s.send(http.MethodPost, "/api/query", `{"question":"Wie viele?","filters":{"open":true},"read_as":{"intent":"count","filters":{"due":{"from":"May"}}}}`)); !strings.HasPrefix(got, "read_as.filters.due.from: ") {
		t.Errorf("beside filters: %q", got)
	}
}

// Prompts and figures name the day: after midnight an answer is computed again.
func TestAnswersAtMidnight(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[time.Time]
	today := func(day int) { at := time.Date(2026, 3, day, 12, 0, 0, 0, time.UTC); now.Store(&at) }
	today(4)
	s := startDetailed(t, func(c *setup) {
		c.threshold = 0
		c.more = func(parts *api.Parts) { parts.Now = func() time.Time { return *now.Load() } }
	})
	ask := func(question string) bool { return s.answer(`{"question":"` + question + `"}`).Cached }
	const prose, figures = "Why was the customer charged twice?", "How many tickets were created last week?"
	if ask(prose) || ask(figures) || !ask(prose) || !ask(figures) {
		t.Error("the same day an answer comes from the cache from the second time on")
	}
	today(5)
	if ask(prose) || ask(figures) || !ask(prose) || !ask(figures) {
		t.Error("the next day an answer is computed again, once")
	}
}

func TestInvalidTurns(t *testing.T) {
	t.Parallel()
	s := start(t)
	turns := strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`, 11), ",")
	for more, want := range map[string]string{
		`"time_zone":"Local"`:                          "time_zone: must be a time zone such as Europe/Berlin",
		`"messages":[` + turns + `]`:                   "messages: must be a list of 0 to 10 elements",
		`"messages":[{"role":"system","content":"x"}]`: `messages[0].role: must be "user" or "assistant"`,
		`"messages":[{"role":"user"}]`:                 "messages[0].content: is required",
		`"messages":["x"]`:                             "messages: must be a list of objects", `"messages":"x"`: "messages: must be a list of objects", `"messages":[null]`: "messages: must be a list of objects",
		`"messages":[{"role":"user","content":"x"},{"role":5,"content":"x"}]`:        "messages[1].role: must be a string",
		`"messages":[{"role":"user","content":"` + strings.Repeat("x", 8001) + `"}]`: "messages[0].content: must have 1 to 8000 characters",
	} {
		if got := told(s.send(http.MethodPost, "/api/query", `{"question":"why",`+more+`}`)); got != want {
			t.Errorf("%.60s: %s, want %s", more, got, want)
		}
	}
}
