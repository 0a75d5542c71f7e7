package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/ask"
	"tasklens/internal/chat"
)

// tracker has these values. Those that begin alike resemble each other.
var tracker = map[string][]string{
	"statuses": {"To Do", "In Progress", "Blocked", "Won't Do", "Done", "Closed", "Resolved", "Assigned"}, "types": {"Bug", "Story", "Incident", "Epic"}, "priorities": {"High", "Highest", "Low"},
	"assignee": {"Lena", "Gary Mathews", "Gary Moss", "Noor"}, "reporter": {"Lena", "Ada Lovelace", "Gary Moss"}, "labels": {"ios", "design-tokens"},
	"projects": {"Mobile App=MOB", "MOB=MOB", "Checkout and Payments=TX", "TX=TX", "Web Front End and Design System=WEB", "WEB=WEB"},
}

// stored is a database with the values of the tracker, and the figures that it is given.
type stored struct {
	figures []string // for each call of count_tickets, in JSON
	counted []map[string]any
	looked  int
	also    map[string][]string // further values of the tracker
}

func (s *stored) Call(_ context.Context, function string, arguments, result any) error {
	given := arguments.(map[string]any)
	if function == "count_tickets" {
		s.counted = append(s.counted, given)
		return json.Unmarshal([]byte("["+s.figures[min(len(s.counted), len(s.figures))-1]+"]"), result)
	}
	s.looked++
	text, _ := json.Marshal(given["filters"])
	asked := map[string]any{}
	if err := json.Unmarshal(text, &asked); err != nil {
		return err
	}
	var rows []map[string]any
	for member, values := range asked {
		list, _ := values.([]any)
		for _, value := range list {
			spelling, _ := value.(string)
			found := s.matching(member, func(name string) bool { return strings.EqualFold(name, spelling) })
			isExact := len(found) > 0
			if !isExact && given["close"] == true {
				found = s.matching(member, func(name string) bool {
					n := min(len(name), len(spelling), 3)
					return n > 2 && strings.EqualFold(name[:n], spelling[:n])
				})
			}
			for _, meant := range found {
				rows = append(rows, map[string]any{"member": member, "spelling": spelling, "value": meant, "exact": isExact})
			}
			if len(found) == 0 && given["close"] == true {
				rows = append(rows, map[string]any{"member": member, "spelling": spelling, "value": nil, "exact": false})
			}
		}
	}
	text, _ = json.Marshal(rows)
	return json.Unmarshal(text, result)
}

func (s *stored) matching(member string, is func(string) bool) []string {
	found := map[string]bool{}
	for _, value := range slices.Concat(tracker[member], s.also[member]) {
		name, key, isPair := strings.Cut(value, "=")
		if !isPair {
			key = name
		}
		if is(name) {
			found[key] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// says is a model with this answer.
type says string

func (s says) CompleteJSON(ctx context.Context, _, _ string, _ int, _ chat.Schema) (chat.Completion, error) {
	switch s {
	case "late":
		<-ctx.Done()
		return chat.Completion{}, ctx.Err()
	case "down":
		return chat.Completion{}, errors.New("down")
	}
	return chat.Completion{Text: string(s)}, nil
}

// friday is midnight of a Friday in a time zone.
func friday(zone string) time.Time {
	location, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 3, 6, 0, 0, 0, 0, location)
}

// read returns a reading in a line.
func read(t *testing.T, model says, zone, question string, earlier ...string) string {
	t.Helper()
	var messages []ask.Message
	for i, content := range earlier {
		messages = append(messages, ask.Message{Role: []string{"user", "assistant"}[i%2], Content: content})
	}
	thread, alone := ask.Thread(question, messages)
	if !ask.MayBeAbout(thread) {
		return "prose: " + alone
	}
	r, err := ask.Read(t.Context(), &stored{}, model, thread, friday(zone))
	if err != nil {
		t.Fatal(err)
	}
	if r.Intent == ask.Prose {
		return "prose: " + alone
	}
	text := strings.TrimSpace(fmt.Sprint(r.Intent, " ", r.Filters, " ", r.Text()))
	if r.Intent == ask.Group {
		text += " by " + r.GroupBy
	}
	if r.Intent == ask.Extreme {
		text += fmt.Sprint(" sort ", r.Sort, map[bool]string{true: " asc ", false: " desc "}[r.Ascending], r.Limit)
	}
	for _, name := range r.Names {
		text += fmt.Sprintf(" %s %q is %v", name.Member, name.Value, name.Names)
	}
	if len(r.Unread) > 0 {
		text += fmt.Sprintf(" unread %q", r.Unread)
	}
	return text
}

func TestQuestionsAreRead(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"How many tickets are blocked in Mobile App?":                                    "count project:MOB status:Blocked",
		"Which blocked payment tickets of Lena are older than a month?":                  `list status:Blocked assignee:Lena created:..2026-02-05 "payment"`,
		"How many bugs did Ada Lovelace report last week?":                               `count reporter:"Ada Lovelace" type:Bug created:2026-02-23..2026-03-01`,
		"How many bugs were reported by Gary Moss?":                                      `count reporter:"Gary Moss" type:Bug`,
		"How many bugs has Lena closed?":                                                 "count assignee:Lena type:Bug is:done",
		"How many tickets were resolved between 2026-01-10 and 2026-01-20?":              "count resolved:2026-01-10..2026-01-20",
		"list high priority stories that are not blocked":                                "list type:Story priority:High -status:Blocked",
		"How many tickets with priority High or Highest have no assignee?":               "count no:assignee priority:High,Highest",
		"How many bugs were created in May 2025 and closed in June 2025?":                "count type:Bug created:2025-05-01..2025-05-31 resolved:2025-06-01..2025-06-30",
		"How many bugs were created in 2024 or in 2025?":                                 `count type:Bug created:2024-01-01..2024-12-31 unread ["in 2025"]`,
		"Which closed bugs are older than 2025?":                                         "list type:Bug created:..2024-12-31 is:done",
		"Which tickets haven't been updated since January?":                              "list updated:..2025-12-31",
		"tickets labelled ios that mention \"dark mode\" created in the last 7 days":     `list label:ios created:2026-02-27..2026-03-06 "dark mode"`,
		"What is due next week?":                                                         "list due:2026-03-09..2026-03-15",
		"Is anything overdue?":                                                           "list due:..2026-03-05 is:open",
		"How many of my tickets are open?":                                               "count assignee:me is:open",
		"How many open tickets per project?":                                             "group is:open by project",
		"Who has the most open bugs?":                                                    "group type:Bug is:open by assignee",
		"How many bugs were closed per month?":                                           "group type:Bug by resolved",
		"What is the oldest open ticket in Checkout and Payments?":                       "extreme project:TX is:open sort created asc 1",
		"Show me the 3 most recently updated incidents":                                  "extreme type:Incident sort updated desc 3",
		"Hi all, I write the report. How many bugs are in WEB, please? I need it today.": "count project:WEB type:Bug",
		// Spelled otherwise, or not at all.
		"How many tickets of Garry are open?":                             `count is:open assignee "Garry" is [Gary Mathews Gary Moss]`,
		"How many tickets are assigned to zork?":                          `count assignee "zork" is []`,
		"How many tickets are there in Mobile Apps?":                      "count project:MOB",
		"Which open tickets are labelled designtokens?":                   "list label:design-tokens is:open",
		"How many story points are left in the sprint?":                   `count type:Story unread ["points" "sprint" "left"]`,
		"How many tickets have more than 3 comments?":                     `count unread ["more than" "comments" "3"]`,
		"How many tickets were created on 2026-02-30?":                    `count unread ["on 2026-02-30"]`,
		"How many tickets were created on 30 February?":                   `count unread ["on 30 February"]`,
		"How many tickets were created between June 2025 and 2025-02-10?": `count unread ["between June 2025 and 2025-02-10"]`,
		"How many tickets crash on startup?":                              `count unread ["crash" "startup"]`, // no figure depends on a guess
		// What no filter expresses must not fall out of a question.
		"How many bugs have no priority?":                `count type:Bug unread ["no priority"]`,
		"How many tickets are there without a due date?": `count unread ["without a due date"]`,
		"How many tickets have a due date?":              `count unread ["have a due date?"]`,
		"How many tickets are not labelled?":             `count unread ["not labelled"]`,
		"How many tickets are not labelled ios?":         "count -label:ios",
		"Which bugs has nobody updated in 2026?":         `list type:Bug created:2026-01-01..2026-12-31 unread ["nobody updated"]`,
		"How many tickets were created on a Monday?":     `count unread ["a Monday"]`,
		"Who files the most bugs?":                       "group type:Bug by reporter",
		// A negation counts for what stands behind it, or the question is not understood.
		"How many tickets are not reported by Lena?":         "count -reporter:Lena",
		"How many tickets were not created by Ada Lovelace?": `count -reporter:"Ada Lovelace"`,
		"How many tickets are not assigned to Noor?":         "count -assignee:Noor",
		"How many tickets aren't assigned to Noor?":          "count -assignee:Noor",
		"How many tickets are not assigned?":                 "count no:assignee",
		"How many tickets are not assigned to anyone?":       "count no:assignee",
		"How many tickets without the label ios are there?":  "count -label:ios",
		"How many tickets does Noor not own?":                `count assignee:Noor unread ["not"]`,
		"How many tickets were not created in 2025?":         `count unread ["not created in 2025"]`,
		"How many tickets weren't created in 2025?":          `count unread ["weren't created in 2025"]`,
		"How many tickets are not due this week?":            `count unread ["not due this week"]`,
		"How many tickets were not created before 2025?":     "count created:2025-01-01..",
		"How many tickets were not created since 2025?":      "count created:..2024-12-31",
		"How many tickets were not closed this week?":        `count is:done unread ["not closed this week"]`,
		// What is said of any ticket is no status of that name, unless one says so.
		"How many tickets are closed in Mobile App?":       "count project:MOB is:done",
		"How many tickets are unresolved?":                 "count is:open",
		"How many resolved tickets are assigned to Noor?":  "count assignee:Noor is:done",
		"How many bugs were closed in May 2025?":           "count type:Bug resolved:2025-05-01..2025-05-31",
		"How many tickets with status Resolved are there?": "count status:Resolved",
		"HOW MANY EPICS ARE BLOCKED?":                      "count status:Blocked type:Epic",
		// A number of tickets is no word of theirs.
		"Which 3 tickets are due next?":              "extreme sort due asc 3",
		"Which five bugs are the oldest?":            "extreme type:Bug sort created asc 5",
		"Show 2 blocked tickets":                     "list status:Blocked",
		"Which tickets mention 12 and are blocked?":  `list status:Blocked "12"`,
		"How many tickets have a due date in March?": "count due:2026-03-01..2026-03-31",
		// What texts say.
		"Why were customers charged twice?":               "prose: Why were customers charged twice?",
		"Which approach did we choose for caching?":       "prose: Which approach did we choose for caching?",
		"Who is assigned to TX-400?":                      "prose: Who is assigned to TX-400?",
		"What is Mobile App for?":                         "prose: What is Mobile App for?",
		"How many retries does the payment service make?": "prose: How many retries does the payment service make?",
		"Which ticket describes the double charge?":       "prose: Which ticket describes the double charge?",
	} {
		if got := read(t, "down", "UTC", question); got != want {
			t.Errorf("%q is read as\n\t%s, want\n\t%s", question, got, want)
		}
	}
}

// The time to read a question grows with the square of its length.
func TestLongQuestionsAreProse(t *testing.T) {
	t.Parallel()
	for around, want := range map[int]string{100: "count status:Done", 1000: "prose: "} {
		question := strings.Repeat("Well. ", around/6) + "How many tickets are done?"
		if got := read(t, "down", "UTC", question); !strings.HasPrefix(got, want) {
			t.Errorf("after %d characters it is read as %.60s, want %s", around, got, want)
		}
	}
	long := strings.Repeat("And which bugs are blocked? ", 40)
	if got := read(t, "down", "UTC", "And those that are done?", long, "7 tickets match …"); !strings.HasPrefix(got, "prose: ") {
		t.Errorf("after a long one it is read as %s", got)
	}
}

// Words of grammar are no names, whatever the tracker stores, and a type by the name of a ticket
// ends the reading like any other.
func TestWordsOfGrammarAreNoNames(t *testing.T) {
	t.Parallel()
	line := func(db *stored, question string) string {
		r, err := ask.Read(t.Context(), db, says("down"), []string{question}, friday("UTC"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join([]string{string(r.Intent), r.Filters.String(), r.Text(), fmt.Sprint(r.Names, r.Unread, r.GroupBy)}, " ")
	}
	for question, phrases := range map[string]string{
		"How many tickets are open?":                        "tickets,ticket,are,are open,tickets are,how,many,how many,open",
		"Which tickets are blocked in the Mobile App?":      "which,are,which tickets,are blocked,the,in,tickets",
		"Who has the most open bugs?":                       "who,has,the,most,who has,open,the most",
		"What is the oldest open ticket?":                   "what,is,the,what is,is the,the oldest,open ticket,ticket",
		"Are there any issues assigned to Lena?":            "are,there,any,are there,issues,issue,to,any issues",
		"Which of my tickets are due this week?":            "of,my,which of,my tickets,this,are due,tickets",
		"How many tickets were closed last month?":          "were,last,tickets were,were closed,tickets",
		"How many tickets does Lena have?":                  "does,have,tickets,tickets does",
		"How many bugs are not assigned to anyone?":         "are,not,to,are not",
		"Show me the 3 latest tickets labelled ios":         "me,the,show me,tickets,tickets labelled",
		"HOW MANY TICKETS ARE BLOCKED?":                     "TICKETS,ARE,TICKETS ARE,ARE BLOCKED,HOW MANY",
		"List the items that are in progress":               "the,items,that,are,that are,items that,list,in",
		"How many cards have no assignee and are overdue?":  "cards,have,and,and are,have no,are overdue,no",
		"What type of ticket is most common?":               "of,is,type of,ticket,ticket is,of ticket",
		"Which labels are there on tickets in Mobile App?":  "are,there,on,labels are,are there,on tickets,in",
		"How many tickets are with status To Do right now?": "with,with status,tickets are with,now,right now,do right,status",
	} {
		want := line(&stored{}, question)
		for phrase := range strings.SplitSeq(phrases, ",") {
			for member := range tracker {
				if got := line(&stored{also: map[string][]string{member: {phrase}}}, question); got != want {
					t.Errorf("with %q among the %s, %q is read as\n\t%s, want\n\t%s", phrase, member, question, got, want)
				}
			}
		}
	}
	for question, want := range map[string]string{
		"How many tickets are in IT?":                  "count project:IT",
		"How many IT tickets are open?":                "count project:IT is:open",
		"How many tickets are assigned to Will?":       "count assignee:Will",
		"How many tickets of type Ticket are blocked?": "count status:Blocked type:Ticket",
		"How many tickets are to do?":                  `count status:"To Do"`,
		"How many Next tickets are there?":             "count status:Next",
	} {
		db := &stored{also: map[string][]string{"projects": {"IT=IT"}, "assignee": {"Will"}, "types": {"Ticket"}, "statuses": {"Next"}}}
		if got := line(db, question); !strings.HasPrefix(got, want+" ") {
			t.Errorf("%q is read as %s, want %s", question, got, want)
		}
	}
}

func TestDaysOfATimeZone(t *testing.T) {
	t.Parallel()
	want := "count created:2026-03-05T00:00:00+01:00..2026-03-06T00:00:00+01:00"
	if got := read(t, "down", "Europe/Berlin", "How many tickets were created yesterday?"); got != want {
		t.Errorf("it is read as %s, want %s", got, want)
	}
}

func TestFollowUps(t *testing.T) {
	t.Parallel()
	first := []string{"How many open bugs are in Mobile App?", "7 tickets match …\n- MOB-1 A bug"}
	for question, want := range map[string]string{
		"And in Checkout and Payments?": "count project:TX type:Bug is:open",
		"which of those are blocked?":   "list project:MOB status:Blocked type:Bug",
		"per assignee?":                 "group project:MOB type:Bug is:open by assignee",
		"and those created last month?": "count project:MOB type:Bug created:2026-02-01..2026-02-28 is:open",
		"who has it?":                   "prose: who has MOB-1?",
		"How many tickets are blocked in Checkout and Payments?": "count project:TX status:Blocked",
		"Why were customers charged twice?":                      "prose: Why were customers charged twice?",
	} {
		if got := read(t, "down", "UTC", question, first...); got != want {
			t.Errorf("%q is read as\n\t%s, want\n\t%s", question, got, want)
		}
	}
	if got := read(t, "down", "UTC", "And of Gary Moss?", "How many open tickets of Gary are there?", "Which assignee?"); got != `count assignee:"Gary Moss" is:open` {
		t.Errorf("the answer to what was asked back is read as %s", got)
	}
	if got := read(t, "down", "UTC", "And for refunds?", "Why were customers charged twice?", "A key was reused [1]."); got != "prose: Why were customers charged twice? And for refunds?" {
		t.Errorf("a follow-up about texts is read as %s", got)
	}
}

// A model reads what the rules cannot place. Whatever it says, only a checked search counts.
func TestModelsReading(t *testing.T) {
	t.Parallel()
	question := "How many tickets have more than 3 comments and are blocked?"
	byRules := `count status:Blocked unread ["more than" "comments" "3"]`
	const frame = `{"intent":"%s","query":%q,"group_by":"%s","period":"month","sort":"created","ascending":false}`
	for answer, want := range map[string]string{
		fmt.Sprintf(frame, "count", "status:Blocked is:open", ""):     "count status:Blocked is:open",
		fmt.Sprintf(frame, "group", `project:"Mobile App"`, "status"): "group project:MOB by status",
		fmt.Sprintf(frame, "count", "assignee:gary", ""):              `count assignee:gary assignee "gary" is [Gary Mathews Gary Moss]`,
		fmt.Sprintf(frame, "count", "status:Blokced", ""):             `count status:Blocked`,
		fmt.Sprintf(frame, "prose", "", ""):                           byRules,
		fmt.Sprintf(frame, "delete", "", ""):                          byRules,
		fmt.Sprintf(frame, "count", "is:open is:done", ""):            byRules,
		fmt.Sprintf(frame, "group", "", "password"):                   byRules,
		fmt.Sprintf(frame, "group", "", ""):                           byRules,
		"There are 42 tickets.":                                       byRules,
		"null":                                                        byRules,
		"late":                                                        byRules,
		"down":                                                        byRules,
	} {
		if got := read(t, says(answer), "UTC", question); got != want {
			t.Errorf("with the model's %s it is read as\n\t%s, want\n\t%s", answer, got, want)
		}
	}
}

// A model that hangs delays a reading by 1.5 s, or a twentieth of the time that the request has,
// which does not count against its provider. Where the request has less time, it ends.
func TestLateModel(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]struct {
		waited       time.Duration
		cause, error error
	}{
		20 * time.Second: {1500 * time.Millisecond, chat.ErrLate, nil},
		time.Minute:      {3 * time.Second, chat.ErrLate, nil},
		time.Second:      {time.Second, context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			begun, model := time.Now(), &hanging{}
			_, err := ask.Read(ctx, &stored{}, model, []string{"How many tickets have more than 3 comments and are blocked?"}, friday("UTC"))
			if waited := time.Since(begun); waited != want.waited || !errors.Is(model.cause, want.cause) || !errors.Is(err, want.error) {
				t.Errorf("with %s left it waited %s (%v): %v", left, waited, model.cause, err)
			}
		})
	}
}

// hanging is a model that never answers. It keeps why its caller left.
type hanging struct{ cause error }

func (h *hanging) CompleteJSON(ctx context.Context, _, _ string, _ int, _ chat.Schema) (chat.Completion, error) {
	<-ctx.Done()
	h.cause = context.Cause(ctx)
	return chat.Completion{}, ctx.Err()
}

// Without a cue nothing is looked up, and a doubt is said in place of a figure.
func TestFigures(t *testing.T) {
	t.Parallel()
	ticket := `{"ticket_key":"TX-1","ticket_name":"Pay","status":"Done","assignee":"Lena","created_at":"2026-01-02T00:00:00Z"}`
	for question, c := range map[string]struct{ figures, want string }{
		"How many tickets are blocked?":          {`{"count":1,"tickets":[` + ticket + `]}`, "1 ticket matches status:Blocked:\n- TX-1 Pay (Done, assigned to Lena, created 2026-01-02) [1]"},
		"How many tickets are done?":             {`{"count":10000,"capped":true,"tickets":[` + ticket + `]}`, "More than 10,000 tickets match status:Done. The last created:\n- TX-1 Pay (Done, assigned to Lena, created 2026-01-02) [1]"},
		"How many tickets are in progress?":      {`{"count":0}`, `No tickets match status:"In Progress".`},
		"How many tickets are there per status?": {`{"count":3,"groups":[{"label":null,"count":1},{"label":"Done","count":2}]}`, "3 tickets, by status:\n- none: 1\n- Done: 2"},
		"Which status has the most tickets?":     {`{"count":3,"groups":[{"label":null,"count":1},{"label":"Done","count":2},{"label":"To Do","count":4}]}`, "3 tickets, by status:\n- To Do: 4\n- Done: 2\n- none: 1"},
		"How many tickets per assignee?":         {`{"count":3,"groups":[{"label":null,"count":3}]}`, "None of these tickets has a value of assignee."},
		"How many tickets mention quux?":         {`{"count":0}`, `No ticket that you can see contains "quux".`},
		"How many tickets of Zork are open?":     {`{"count":9}`, `There is no assignee "Zork" among the tickets that you can see.`},
		"How many tickets have votes?":           {`{"count":9}`, `I cannot tell: I can count and list tickets by project, status, people, type, priority, labels, dates and words, but not by "votes".`},
	} {
		db := &stored{figures: []string{c.figures}}
		r, err := ask.Read(t.Context(), db, says("down"), []string{question}, friday("UTC"))
		if err != nil {
			t.Fatal(err)
		}
		figures, text, err := r.Compute(t.Context(), db, nil, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if text == "" {
			text = r.Answer(figures)
		}
		if text != c.want {
			t.Errorf("%q is answered\n%s\nwant\n%s", question, text, c.want)
		}
	}
}
