package export

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The columns of a project's export before 18.4, with several assignees, and since.
const (
	gitlabOld = `Title,Description,Issue ID,URL,State,Author,Author Username,Assignee,Assignee Username,Confidential,Locked,Due Date,Created At (UTC),Updated At (UTC),Closed At (UTC),Milestone,Weight,Labels,Time Estimate,Time Spent,Epic ID,Epic Title
Pump leaks,"'- at night
- by day",7,https://gitlab.example.com/Acme/water/big.pumps/-/issues/7,Closed,Ann Roe,ann,"Bob Lee, Eve Fox","bob, eve",No,Yes,2025-04-01,2025-03-14 09:12:00,2025-03-15 13:00:00,2025-03-15 13:00:00,Spring,3,"bug,wet",0,0,,
`
	gitlabNew = `ID,IID,Title,Description,Type,URL,State,Confidential,Locked,Milestone,Labels,Author,Author Username,Assignee,Assignee Username,Created At (UTC),Updated At (UTC),Closed At (UTC),Due Date,Start Date,Parent ID,Parent IID,Parent Title,Time Estimate,Time Spent,Weight
9107,7,Pump leaks,,Issue,https://gitlab.example.com/Acme/water/big.pumps/-/work_items/7,Open,No,No,,"bug, wet",Ann Roe,ann,,,2025-03-14 09:12:00,2025-03-15 13:00:00,,,,9001,,,0,0,
9108,8,Payroll,,Task,https://gitlab.example.com/Acme/water/big.pumps/-/work_items/8,Open,Yes,No,,,Ann Roe,ann,,,2025-03-14 09:12:00,2025-03-15 13:00:00,,,,,,,0,0,
9109,9,Elsewhere,,Task,https://gitlab.example.com/Acme,Open,No,No,,,Ann Roe,ann,,,2025-03-14 09:12:00,,,,,,,,0,0,
`
	gitlabIssues = `[{"id":9107,"iid":7,"project_id":4,"title":"'- not a cell","description":"**At** night","state":"closed","created_at":"2025-03-14T09:12:00.000Z","updated_at":"2025-03-15T13:00:00.000Z","closed_at":"2025-03-15T13:00:00.000Z",
"closed_by":{"id":2,"username":"ann","name":"Ann Roe","state":"active","locked":false},"labels":["bug","wet"],"milestone":{"id":1,"iid":1,"title":"Spring","state":"active","due_date":null},"author":{"id":2,"username":"ann","name":"Ann Roe","state":"active"},
"assignees":[{"id":3,"username":"bob","name":"Bob Lee"},{"id":4,"username":"eve","name":"Eve Fox"}],"assignee":{"id":3,"username":"bob","name":"Bob Lee"},"type":"ISSUE","issue_type":"test_case","user_notes_count":2,"confidential":false,"discussion_locked":null,
"due_date":"2025-04-01","web_url":"https://gitlab.example.com/acme/pumps/issues/7","references":{"short":"#7","full":"acme/pumps#7"},"_links":{"self":"https://gitlab.example.com/api/v4/projects/4/issues/7"},"severity":"UNKNOWN","weight":null,"moved_to_id":null},
{"iid":8,"title":"Payroll","web_url":"https://gitlab.example.com/acme/pumps/-/issues/8","state":"opened","confidential":true},
{"iid":9,"title":"A change","web_url":"https://gitlab.example.com/acme/pumps/-/merge_requests/9","state":"opened"},
{"iid":10,"title":"Down","web_url":"https://gitlab.example.com/acme/pumps/-/issues/incident/10","state":"opened","labels":[{"name":"bug"}]}]`
)

func TestGitlab(t *testing.T) {
	t.Parallel()
	first := Ticket{Key: "BIG-PUMPS-7", ProjectKey: "BIG-PUMPS", Name: "Pump leaks", Description: "- at night\n- by day\n\nMilestone: Spring", Status: "Closed", Category: "done", URL: "https://gitlab.example.com/Acme/water/big.pumps/-/issues/7",
		CreatedAt: on(3, 14, 9, 12), UpdatedAt: on(3, 15, 13, 0), ResolvedAt: given(on(3, 15, 13, 0)), DueDate: given(on(4, 1, 0, 0)), Assignee: given("Bob Lee"), Reporter: given("Ann Roe"), Labels: []string{"bug", "wet"}}
	later := first
	later.Description, later.Status, later.Category, later.SourceID, later.URL = "", "Open", "to_do", "9107", "https://gitlab.example.com/Acme/water/big.pumps/-/work_items/7"
	later.ResolvedAt, later.DueDate, later.Assignee, later.TicketType = given(""), given(""), given(""), given("Issue")
	later.Links = []Link{{"child_of", "", "9001", false}}
	listed := Ticket{Key: "PUMPS-7", ProjectKey: "PUMPS", Name: "'- not a cell", Description: "**At** night\n\nmilestone: Spring", Status: "Closed", Category: "done", SourceID: "9107", URL: "https://gitlab.example.com/acme/pumps/issues/7", TicketType: given("Test case"),
		CreatedAt: first.CreatedAt, UpdatedAt: first.UpdatedAt, ResolvedAt: first.ResolvedAt, DueDate: first.DueDate, Assignee: first.Assignee, Reporter: first.Reporter, Labels: first.Labels}
	down := Ticket{Key: "PUMPS-10", ProjectKey: "PUMPS", Name: "Down", Status: "Open", Category: "to_do", URL: "https://gitlab.example.com/acme/pumps/-/issues/incident/10", Labels: []string{"bug"}}
	for _, c := range []struct {
		name, file string
		want       []Ticket
		project    Project
		notices    []string
	}{
		{"x.csv", gitlabOld, []Ticket{first}, Project{Key: "BIG-PUMPS", Name: "Acme/water/big.pumps", Origin: "gitlab.example.com/acme/water/big.pumps"}, []string{
			"issues with several assignees, reduced to the first: 1", "keys changed so that queries can name them, such as BIG.PUMPS-N to BIG-PUMPS-N: 1",
			"columns left out, with their number of rows: Locked (1), Time Estimate (1), Time Spent (1), Weight (1)"}},
		{"x.csv", gitlabNew, []Ticket{later}, Project{Key: "BIG-PUMPS", Name: "Acme/water/big.pumps", Origin: "gitlab.example.com/acme/water/big.pumps"}, []string{
			"keys changed so that queries can name them, such as BIG.PUMPS-N to BIG-PUMPS-N: 1", "tickets that not everybody may read (Confidential: Yes), left out: 1",
			"columns left out, with their number of rows: Locked (1), Time Estimate (1), Time Spent (1)"}},
		{"x.json", gitlabIssues, []Ticket{listed, down}, Project{Key: "PUMPS", Name: "acme/pumps", Origin: "gitlab.example.com/acme/pumps"}, []string{
			"comments that GitLab's API does not return with issues: 2", "issues with several assignees, reduced to the first: 1", "merge requests left out: 1",
			"tickets that not everybody may read (confidential: true), left out: 1", "tickets without a creation date that can be read: new ones get the day of the import: 1",
			"columns left out, with their number of rows: closed_by (1), severity (1)"}},
	} {
		r := open(t, writeOne(t, c.name, c.file))
		got, bad, err := collect(t, r.Tickets())
		if diff := cmp.Diff(c.want, got, withoutPlace); diff != "" || err != nil {
			t.Errorf("%.20s: %v, tickets (-want +got):\n%s", c.file, err, diff)
		}
		if diff := cmp.Diff(c.notices, r.Notices()); diff != "" {
			t.Errorf("%.20s: notices (-want +got):\n%s", c.file, diff)
		}
		if is := strings.Contains(c.file, "Elsewhere"); is && (len(bad) != 1 || bad[0].Key != "9" || !strings.Contains(bad[0].Reason, `URL "https://gitlab.example.com/Acme" is not the address of a GitLab issue`)) || !is && bad != nil {
			t.Errorf("%.20s: bad rows are %v", c.file, bad)
		}
		if project := one(t, r.Projects()); project != c.project || r.Format() != "gitlab" {
			t.Errorf("%.20s: the project is %+v of %s", c.file, project, r.Format())
		}
	}
	r := open(t, writeOne(t, "x.csv", gitlabOld))
	r.Keep(Kept{Labels: []string{"milestone"}, Text: []string{"Weight"}})
	if got := one(t, r.Tickets()); got.Labels[2] != "Milestone: Spring" || !strings.HasSuffix(got.Description, "\n\nWeight: 3") {
		t.Errorf("kept are %q, %q", got.Labels, got.Description)
	}
}
