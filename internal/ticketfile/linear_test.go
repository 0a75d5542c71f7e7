package ticketfile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLinearExport(t *testing.T) {
	t.Parallel()
	r := openCSV(t, `"ID","Team","Title","Description","Status","Estimate","Priority","Project","Creator","Assignee","Labels","Created","Updated","Started","Completed","Canceled","Due Date","Parent issue","Blocked by"
"ENG-12","Engine","Pump leaks","**Oil** everywhere","In Review","3","No priority","Q3","ann@example.com","","bug, ios","Fri Mar 14 2025 12:00:00 GMT+0000 (GMT)","2025-03-15T12:00:00.000Z","Fri Mar 14 2025 14:00:00 GMT+0200 (CEST)","","","2025-04-01","ENG-1","ENG-3, ENG-4"
"ENG-13","Engine","Dropped","","Canceled","","Urgent","","","bo","","2025-03-14T12:00:00.000Z","","","","2025-03-14T12:00:00.000Z","","",""
"13","Engine","No key","","Todo","","","","","","","","","","","","","",""
`)
	good, bad, fatal := collect(t, r.Tickets())
	if fatal != nil || len(bad) != 1 || bad[0].Reason != `ID "13" is no key such as ENG-12` {
		t.Errorf("bad rows %v, %v", reasons(bad), fatal)
	}
	next := noon.AddDate(0, 0, 1)
	want := []Ticket{
		{Key: "ENG-12", ProjectKey: "ENG", Name: "Pump leaks", Description: "**Oil** everywhere", Status: "In Review", CreatedAt: noon, UpdatedAt: next,
			Assignee: new(""), Reporter: new("ann@example.com"), Priority: new(""), Labels: []string{"bug", "ios"}, DueDate: new("2025-04-01"),
			ResolvedAt: &time.Time{}, StatusCategory: "in_progress",
			Links: []Link{{"ENG-12", ChildOf, "ENG-1"}, {"ENG-3", Blocks, "ENG-12"}, {"ENG-4", Blocks, "ENG-12"}}},
		{Key: "ENG-13", ProjectKey: "ENG", Name: "Dropped", Status: "Canceled", CreatedAt: noon, Assignee: new("bo"), Reporter: new(""),
			Priority: new("Urgent"), Labels: []string{}, DueDate: new(""), ResolvedAt: &noon, StatusCategory: "done", Links: []Link{}},
	}
	if diff := cmp.Diff(want, good, withoutPlace); diff != "" {
		t.Error(diff)
	}
	if want, got := []Project{{Key: "ENG", Name: "Engine"}}, all(t, r.Projects()); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
	if want := []string{"Estimate", "Project"}; !cmp.Equal(want, r.Unread()) {
		t.Errorf("unread are %q", r.Unread())
	}
}
