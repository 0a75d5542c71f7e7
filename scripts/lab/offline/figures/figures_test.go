package figures

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A Wednesday.
var now = time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)

// shown is a call in a short form.
func shown(call Call) string {
	parts := []string{call.Action}
	if call.State != "any" {
		parts = append(parts, call.State)
	}
	for _, c := range call.Filters {
		parts = append(parts, strings.TrimPrefix(map[bool]string{true: "-"}[c.Not]+c.Field+":"+strings.Join(c.Values, ","), " "))
	}
	for _, span := range call.Dates {
		parts = append(parts, span.Field+":"+span.From+".."+span.To)
	}
	for _, word := range call.Words {
		parts = append(parts, `"`+word+`"`)
	}
	if call.Action == "group" {
		parts = append(parts, "by "+call.GroupBy)
	}
	if call.Sort != "created" || call.Ascending {
		parts = append(parts, "sort "+call.Sort)
	}
	return strings.Join(parts, " ")
}

func TestRead(t *testing.T) {
	t.Parallel()
	known := Names{"project": {"Mobile App", "MOB"}, "label": {"ios"}}
	for question, want := range map[string]string{
		"How many tickets are blocked in Mobile App?":                  "count status:blocked project:Mobile App",
		"how many bugs are assigned to Zoë Quinn?":                     "count assignee:Zoë Quinn type:bug",
		"Which unassigned tickets mention payment?":                    `list assignee: "payment"`,
		"Who has the most open bugs?":                                  "group open type:bug by assignee sort size",
		"How many tickets were created per month in 2025?":             "group created:2025-01-01..2025-12-31 by created",
		"What is the oldest open ticket in Checkout and Payments?":     "list open project:Checkout and Payments sort created",
		"Which tickets are overdue?":                                   "list open due:..2026-03-03 sort due",
		"What is blocked in the mobile app?":                           "list status:blocked project:mobile app",
		"Which tickets of Ann are due next week?":                      "list assignee:Ann due:2026-03-09..2026-03-15 sort due",
		"Hello there. How many tickets are not done in Mobile App?":    "count open project:Mobile App",
		"How many tickets were created last week?":                     "count created:2026-02-23..2026-03-01",
		"How many tickets were resolved since January?":                "count resolved:2026-01-01..",
		"How many tickets changed in the last 3 days?":                 "count updated:2026-03-01..2026-03-04",
		"How many tickets are not labelled security?":                  "count -label:security",
		"how many ios tickets?":                                        "count label:ios",
		"How many high-priority stories did Ann report?":               "count reporter:Ann priority:high type:story",
		"And in Mobile App?":                                           "",
		"Why was the customer charged twice?":                          "",
		"How many retries does the client make?":                       "",
		"How many tickets have more than three comments?":              "",
		"How many tickets crash on startup?":                           "",
		"How many tickets are due?":                                    "",
		"Which ticket mentions cold soup?":                             "",
		"How many tickets are in reveiw?":                              "",
		"Wie viele Tickets sind in Mobile App offen?":                  "",
		"Los tickets de Mobile App siguen abiertos?":                   "",
		"Why is MOB-7 blocked?":                                        "",
		"How many tickets are there? " + strings.Repeat("x", mostRead): "",
	} {
		call, is := Read([]string{question}, known, now)
		if got := shown(call); is != (want != "") || is && got != want {
			t.Errorf("%.80q is read as %q (%t), want %q", question, got, is, want)
		}
	}
}

func TestReadThread(t *testing.T) {
	t.Parallel()
	turns := []Turn{{"user", "How many open bugs are there in Checkout?"}, {"assistant", "4 tickets: TX-9 and others."}}
	for question, want := range map[string]string{
		"And in Shipping?": "count open type:bug project:Shipping", "per assignee?": "group open type:bug project:Checkout by assignee",
		"Which of them are done?": "count done type:bug project:Checkout", "How many tickets are overdue?": "count open due:..2026-03-03",
	} {
		thread := Thread(question, turns)
		call, _ := Read(thread, nil, now)
		if got := shown(call); got != want {
			t.Errorf("%q is read as %q, want %q", question, got, want)
		}
	}
	turns[0].Text = "Summarise project Checkout"
	if call, is := Read([]string{turns[0].Text, "And per assignee?"}, nil, now); is {
		t.Errorf("after a question about texts: %q", shown(call))
	}
}

// What asks for tickets is read or is known to ask for them: a sentence about something near would
// be no answer.
func TestAsks(t *testing.T) {
	t.Parallel()
	known := Names{"project": {"Data Platform", "DATA", "Mobile App"}, "assignee": {"Noor"}}
	for question, want := range map[string]string{
		"How many tickets does the data platform have?":         "count project:data platform",
		"Which tickets about payments are open?":                `list open "payments"`,
		"how many bugs about the login page are closed?":        `count done type:bug "login" "page"`,
		"Which tickets about gift cards annoy customers?":       "asks",
		"How many tickets about payments exist?":                `count "payments"`,
		"List the tickets about vouchers that nobody looked at": "asks",
		"Which stories regarding search are assigned to Noor?":  `list assignee:Noor type:story "search"`,
		"What is assigned to noor?":                             "list assignee:noor",
		"what is assigned to the people in the warehouse":       "asks",
		"Which of the payment tickets are the most urgent?":     "asks",
		"How many of our tickets crash on startup?":             "asks",
		"Show me all bugs that customers complained about":      "asks",
		"What are the mobile app's open bugs?":                  "list open type:bug project:mobile app",
		"Which projects have no open epics?":                    "asks",
		"Please count the incidents with the payment provider":  "asks",
		"latest updated payment ticket?":                        "asks",
		"Break down the open tickets by due date":               "asks",
		"Why were customers charged twice?":                     "",
		"How many orders were charged twice?":                   "",
		"Which ticket is about cold soup?":                      "",
		"What is the goal of the mobile app?":                   "",
		"How many items fit into a basket?":                     "",
	} {
		call, is := Read([]string{question}, known, now)
		got := ""
		if is {
			got = shown(call)
		} else if Asks([]string{question}) {
			got = "asks"
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", question, got, want)
		}
	}
	for _, c := range []struct {
		thread []string
		want   bool
	}{
		{[]string{"How many tickets crash?", "And on startup?"}, true},
		{[]string{"How many tickets crash?", "Why do they?"}, false},
		{[]string{"Why do apps crash?", "Which tickets are about it?"}, true},
	} {
		if got := Asks(c.thread); got != c.want {
			t.Errorf("Asks(%q) = %v", c.thread, got)
		}
	}
}

// All that the tool requires is in a call, and lists are never null.
func TestCallIsWhole(t *testing.T) {
	t.Parallel()
	call, _ := Read([]string{"How many tickets are there?"}, nil, now)
	text, err := json.Marshal(call)
	if err != nil || strings.Contains(string(text), "null") || strings.Count(string(text), `":`) != 10 {
		t.Errorf("%s, %v", text, err)
	}
}
