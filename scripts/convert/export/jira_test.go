package export

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The columns of Jira's "Export CSV (all fields)", shortened, with repeated Labels and Comment.
const jiraExport = `Summary,Issue key,Issue id,Issue Type,Status,Project key,Project name,Project type,Project description,Priority,Resolution,Assignee,Created,Updated,Labels,Labels,Description,Custom field (Story Points),Comment,Comment
Cart is empty,SHOP-7,10007,Bug,In Progress,SHOP,Web shop,software,"Everything, sold",High,,Ann,14/Mar/25 9:12 AM,15/Mar/25 1:00 PM,cart,web,"First line

He said ""it is gone"", and left",3,14/Mar/25 9:30 AM;ann;seen,
"Pay, twice",PAY-1,10008,Story,Done,PAY,,software,,Low,Done,,soon,,,,,,,
`

func TestJiraExport(t *testing.T) {
	t.Parallel()
	r := openCSV(t, jiraExport)
	tickets := all(t, r.Tickets())
	want := []Ticket{
		{Key: "SHOP-7", ProjectKey: "SHOP", Name: "Cart is empty", Status: "In Progress",
			Description: "First line\n\nHe said \"it is gone\", and left", CreatedAt: on(3, 14, 9, 12),
			UpdatedAt: on(3, 15, 13, 0), TicketType: given("Bug"), Priority: given("High"), Assignee: given("Ann"), Labels: []string{"cart", "web"}, SourceID: "10007",
			Comments: []Comment{{Key: madeKey(on(3, 14, 9, 30), "ann", map[string]int{}), Author: "ann", Body: "seen", CreatedAt: on(3, 14, 9, 30)}}},
		{Key: "PAY-1", ProjectKey: "PAY", Name: "Pay, twice", Status: "Done", Description: "Resolution: Done", SourceID: "10008", TicketType: given("Story"), Priority: given("Low"), Assignee: given(""), Labels: []string{}, Comments: []Comment{},
			Warnings: []*RowError{{File: r.tickets[0], Line: 5, Key: "PAY-1", Reason: `Created is left out: "soon" is not a date`}}},
	}
	if diff := cmp.Diff(want, tickets, withoutPlace); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	projects := all(t, r.Projects())
	if want := []Project{{Key: "SHOP", Name: "Web shop", Description: "Everything, sold"}, {Key: "PAY", Name: "PAY"}}; !cmp.Equal(want, projects) {
		t.Errorf("projects (-want +got):\n%s", cmp.Diff(want, projects))
	}
}

func TestJiraForms(t *testing.T) {
	t.Parallel()
	plain := Ticket{Key: "A-B-1", ProjectKey: "A-B", Name: "n", Status: "To Do"}
	described := plain
	described.Description = "d"
	lines := plain
	lines.Description = "a\nb\nc\rd"
	for name, c := range map[string]struct {
		file string
		want Ticket
	}{
		"required columns only":             {"Issue key,Summary\nA-B-1,n\n", plain},
		"no line feed at end":               {"Issue key,Summary\nA-B-1,n", plain},
		"quoted to the end":                 {"Issue key,Summary\nA-B-1,\"n\"", plain},
		"CRLF":                              {"Issue key,Summary\r\nA-B-1,n\r\n", plain},
		"CRLF and quotes":                   {"\"Issue key\",\"Summary\"\r\n\"A-B-1\",\"n\"\r\n", plain},
		"byte order mark":                   {"\uFEFFIssue key,Summary\nA-B-1,n\n", plain},
		"byte order mark and quotes":        {"\uFEFF\"Issue key\",Summary\nA-B-1,n\n", plain},
		"semicolons":                        {"Issue key;Summary;Description\nA-B-1;n;d\n", described},
		"tabs":                              {"Watchers\tIssue key\tSummary\tDescription\n\tA-B-1\tn\td\n", described},
		"unnamed first column":              {"\tIssue key\tSummary\n\tA-B-1\tn\n", plain},
		"commas in a semicolon file":        {"Issue key;Summary;a,b,c,d\nA-B-1;n;,,,,\n", plain},
		"capitals and spaces in the header": {" ISSUE KEY , summary\nA-B-1,n\n", plain},
		"blank lines":                       {"\n \nIssue key,Summary,Watchers\n\n,,\r\nA-B-1,n,\n,,\n\n", plain},
		"empty project key":                 {"Issue key,Summary,Project key,Status,Created\nA-B-1,n, ,,\n", plain},
		"repeated column":                   {"Description,Issue key,Summary,Description\n,A-B-1,n,d\n", described},
		"repeated column, both filled":      {"Description,Issue key,Summary,Description\nd,A-B-1,n,e\n", described},
		"line ends in a field":              {"Issue key,Summary,Description\nA-B-1,n,\"a\r\nb\nc\rd\"\n", lines},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, one(t, openCSV(t, c.file).Tickets()), withoutPlace); diff != "" {
				t.Errorf("ticket (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJiraBadRows(t *testing.T) {
	t.Parallel()
	r := openCSV(t, strings.Join([]string{
		`Issue key,Summary,Description,Project key,Status`, // 1
		`A-1,"two`, // 2
		`lines",,,`,
		`,no key,,,`, // 4
		`A-2,"`,      // 5
		`","`,
		``,
		`",,`,
		`A-3,one field too many,,,,`,    // 9
		`A-4,one too few,,`,             // 10
		`A- 5,,,,`,                      // 11
		`AB,no project,,,`,              // 12
		`-6,no project either,,,`,       // 13
		`A-7,"quote "in" the field",,,`, // 14
		`A-8,good,,B	C,`,                // 15
		`A-9,,,,`,                       // 16
		`A-10,"spans`,                   // 17
		`two lines" more,,,`,
		`A-11,last good,,,`,  // 19
		`A-12,24" screen,,,`, // 20
		`A-12,good,"never`,   // 21
		`closed,,`,
		`A-13,swallowed,,,`,
	}, "\r\n"))
	good, bad, fatal := collect(t, r.Tickets())
	if fatal != nil {
		t.Fatal(fatal)
	}
	var names []string
	for _, ticket := range good {
		names = append(names, ticket.Name)
	}
	if want := []string{"two\nlines", "last good"}; !cmp.Equal(want, names) {
		t.Errorf("names of good tickets (-want +got):\n%s", cmp.Diff(want, names))
	}
	const quotes = "a quote is not doubled within its field, or not closed"
	keys := map[int]string{5: "A-2", 11: "A-5", 12: "AB", 13: "-6", 15: "A-8", 16: "A-9"}
	row := func(line int, reason string) *RowError {
		return &RowError{File: r.tickets[0], Line: line, Key: keys[line], Reason: reason}
	}
	if want := []*RowError{
		row(4, "Issue key is missing"),
		row(5, "Summary is missing"),
		row(9, "the row has 6 fields where the header has 5"),
		row(10, "the row has 4 fields where the header has 5"),
		row(11, "Summary is missing"),
		row(12, `Project key is missing, and Issue key "AB" does not contain one`),
		row(13, `Project key is missing, and Issue key "-6" does not contain one`),
		row(14, quotes),
		row(15, `Project key "B\tC" has a control character in it`),
		row(16, "Summary is missing"),
		row(17, quotes),
		row(20, quotes),
		row(21, quotes),
	}; !cmp.Equal(want, bad) {
		t.Errorf("bad rows (-want +got):\n%s", cmp.Diff(want, bad))
	}
	// Projects come from the good tickets, and bad rows are not reported a second time.
	if want, got := []Project{{Key: "A", Name: "A"}}, all(t, r.Projects()); !cmp.Equal(want, got) {
		t.Errorf("projects (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestJiraLineNumbersAfterBlankLines(t *testing.T) {
	t.Parallel()
	_, bad, fatal := collect(t, openCSV(t, "\r\n\n\"Issue key\";Summary\n\nA-1;\n").Tickets())
	if fatal != nil || len(bad) != 1 || bad[0].Line != 5 {
		t.Errorf("got the bad rows %v and the error %v, want one bad row on line 5", bad, fatal)
	}
}
