package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tasklens/internal/testbed"
)

// hostileParts are what names of tickets, people, labels, statuses, types and projects are made of.
var hostileParts = []string{
	"\n- TX-400 Gone (Blocked, assigned to Mallory) [1]", "\r\n\r\n", "\u2028", "\u0085", "\u202e", "\u2066", "\u200b", "\U000E0041", "\u2800", "\t", " ",
	"[7]", "[1, 2]", "【7】", "【7†source】", "［7］", "[^1]", "[Source 1]", "[doc1]", "\\[1\\]", "&#91;1&#93;", "[", "]", "【", "1", "7,", ")", "(", "`", "|", "\\", `"`, "'s", "%s", "%d",
	"![i](http://evil.example/i.png)", "[a](http://evil.example/?q=x)", "[r]: http://evil.example", "<img src=x>", "</a>", "<!-- x", "<javascript:x>",
	"are", "open", "are open", "tickets", "Ticket", "tickets are", "how many", "the", "in", "of", "to", "me", "Lena", "Ada", "done", "bugs", "or", "and", "not",
	strings.Repeat("long ", 60), strings.Repeat("見", 300), strings.Repeat("[1", 100),
}

// askedThings are questions about fields and texts; %s is a stored value, or what looks like one.
var askedThings = []string{
	"How many tickets are open?", "How many tickets are there?", "How many tickets are in Checkout?", "How many tickets per assignee?", "How many tickets per label?",
	"How many open tickets are there per status?", "Who has the most open tickets?", "Who reported the most tickets?", "What is the oldest ticket?", "Show the 20 latest tickets",
	"Which tickets are assigned to %s?", "How many tickets of %s are open?", "How many %s tickets are there?", "Which tickets are labelled %s?", "How many tickets with status %s are in %s?",
	"How many tickets of type %s were created this year?", "Which tickets mention \"%s\"?", "How many tickets are not %s?", "Who is assigned to TX-400?", "Why was a customer charged twice? %s",
}

var (
	lineOfAnswer = regexp.MustCompile(`^- .*(?: \[\d+\]|: \d+)$`)
	ourCitation  = regexp.MustCompile(` \[\d+\]\n| \[\d+\]$`)
	// acts is what a client could show as a citation, load or follow.
	acts = regexp.MustCompile(`(?i)[\[［【](?:\^|source |doc)?[\s\d,]*\d[\s\d,]*(?:†[^\]】]*)?[\]］】]|!\[|\]\(|\]:|<[a-z/!]|&#9[13]`)
)

// Whatever is stored and asked, an answer comes, is bounded, and each stored value in it is one
// clean line: in the text, beside it, whole, streamed and by tools.
func TestAnyValuesAnyQuestions(t *testing.T) {
	t.Parallel()
	s := startDetailed(t, forgetful)
	db := s.connect()
	clean := func(t *rapid.T, where, value string) {
		t.Helper()
		if strings.ContainsFunc(value, unicode.IsControl) || strings.ContainsFunc(value, func(r rune) bool { return unicode.Is(testbed.Unseen, r) }) || acts.MatchString(value) || utf8.RuneCountInString(value) > 1000 {
			t.Fatalf("%s is %+q", where, value)
		}
	}
	check := func(t *rapid.T, question string, body []byte) {
		t.Helper()
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		text, _ := got["answer"].(string)
		if len(body) > 1<<20 || utf8.RuneCountInString(text) > 32_900 || text == "" {
			t.Fatalf("%q is answered with %d bytes, %d of them the text", question, len(body), len(text))
		}
		if got["read_as"] != nil {
			tickets := ourCitation.FindAllString(text, -1)
			bare := ourCitation.ReplaceAllString(text, "\n")
			for i, line := range strings.Split(text, "\n") {
				if i > 0 && !lineOfAnswer.MatchString(line) {
					t.Fatalf("%q is answered with the line %q", question, line)
				}
			}
			for _, line := range strings.Split(bare, "\n") {
				if acts.MatchString(line) || strings.ContainsFunc(line, unicode.IsControl) || strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(testbed.Unseen, r) }) {
					t.Fatalf("%q is answered with the line %+q", question, line)
				}
			}
			if sources, _ := got["sources"].([]any); len(tickets) != len(sources) {
				t.Fatalf("%q: %d citations of %d sources in %q", question, len(tickets), len(sources), text)
			}
		}
		delete(got, "answer")
		var walk func(where string, value any)
		walk = func(where string, value any) {
			switch value := value.(type) {
			case string:
				clean(t, where, value)
			case []any:
				for _, element := range value {
					walk(where, element)
				}
			case map[string]any:
				for name, element := range value {
					if name != "text" || where == "read_as" { // of a ticket
						walk(name, element)
					}
				}
			}
		}
		walk("", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		value := func(name string) string {
			text := []rune("x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostileParts), 0, 8).Draw(t, name), rapid.SampledFrom([]string{"", " "}).Draw(t, "between")))
			return string(text[rapid.IntRange(0, min(1, len(text)-1)).Draw(t, "from"):min(len(text), 255)])
		}
		var stored []string
		for i, key := range []string{"TX-400", "TX-401", "IAM-97"} {
			person, name := value("person"), value("name")
			stored = append(stored, person, name)
			run(s.t, db, `update public.tickets set name = $2, assignee = $3, reporter = $3, ticket_type = $4, priority = $4, labels = array[$3, $4] where ticket_id = $1`,
				s.ids[key], fmt.Sprint(i, name), person, value("type"))
		}
		run(s.t, db, `update public.status set name = $1 where status_id = (select min(status_id) from public.status)`, fmt.Sprintf("%.99s1", value("status")))
		run(s.t, db, `update public.projects set name = $2 where project_id = $1`, s.ids["TX"], value("project")+"1")
		question := rapid.SampledFrom(askedThings).Draw(t, "question")
		for strings.Contains(question, "%s") {
			said := strings.Join(strings.Fields(rapid.SampledFrom(append(stored, hostileParts[len(hostileParts)-25:len(hostileParts)-3]...)).Draw(t, "said")), " ")
			question = strings.Replace(question, "%s", strings.ReplaceAll(said, "%s", ""), 1)
		}
		question = string([]rune(question)[:min(900, utf8.RuneCountInString(question))])
		body, _ := json.Marshal(map[string]any{"question": question})
		whole := s.send(http.MethodPost, "/api/query", string(body)).want(http.StatusOK)
		check(t, question, []byte(whole.text))
		opened := s.openStream(question, nil)
		opened.lines.Buffer(nil, 1<<20)
		names, text, last := opened.rest()
		if names[len(names)-1] != "done" || text != decoded[answered](s.t, last).Answer {
			t.Fatalf("%q is streamed as %q and then %q", question, text, last)
		}
		check(t, question, s.tool("ask", map[string]any{"question": question}).Structured)
	})
}
