package filter_test

import (
	"testing"

	"tasklens/internal/filter"
)

var stored = filter.Stored{
	{Member: "statuses", Text: "To Do"}: {"To Do"}, {Member: "statuses", Text: "Done"}: {"Done"}, {Member: "assignee", Text: "Ada Lovelace"}: {"Ada Lovelace"},
	{Member: "projects", Text: "Project X"}: {"PX"}, {Member: "projects", Text: "Mobile App"}: {"MOB"}, {Member: "projects", Text: "mobile app"}: {"MOB"},
	{Member: "projects", Text: "web"}: {"WEB"}, {Member: "projects", Text: "WEB"}: {"WEB"}, {Member: "projects", Text: "Twins"}: {"A", "B"},
	{Member: "labels", Text: "third party"}: {"third party"},
}

func TestReadStoredValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, filters string }{
		{"UI bugs in Project X status: To Do", "UI bugs", `{"projects":["PX"],"statuses":["To Do"]}`},
		{"status:To Do login", "login", `{"statuses":["To Do"]}`},
		{"status: To Doing", "status: To Doing", `{}`},
		{"status: Done", "", `{"statuses":["Done"]}`},
		{"status: 500 when paying", "status: 500 when paying", `{}`},
		{`status: "in progress" pump`, "pump", `{"statuses":["in progress"]}`},
		{"-status: To Do pump", "pump", `{"not":{"statuses":["To Do"]}}`},
		{"assignee:Ada Lovelace is: open", "", `{"open":true,"assignee":["Ada Lovelace"]}`},
		{"label:third party", "", `{"labels":{"any":["third party"]}}`},
		{"pump created: >2025-02-28", "pump", `{"created":{"from":"2025-03-01"}}`},
		{"pump created: yesterday's log", "pump created: yesterday's log", `{}`},
		{"crashes in the Mobile App project when paying", "crashes when paying", `{"projects":["MOB"]}`},
		{"crashes in mobile app?", "crashes", `{"projects":["MOB"]}`},
		{"project Mobile App", "", `{"projects":["MOB"]}`},
		{"bugs in WEB", "bugs", `{"projects":["WEB"]}`},
		{"bugs in web", "bugs in web", `{}`},
		{"bugs in the web project", "bugs", `{"projects":["WEB"]}`},
		{"bugs in project web when idle", "bugs when idle", `{"projects":["WEB"]}`},
		{"bugs in WEB Plugins", "bugs in WEB Plugins", `{}`},
		{`project:"Mobile App" -project:web`, "", `{"projects":["MOB"],"not":{"projects":["WEB"]}}`},
		{"status:open crash", "crash", `{"open":true}`},
		{"-status:closed", "", `{"open":true}`},
		{"status:Done,open", "", `{"statuses":["Done","open"]}`},
		{"bugs in Twins", "bugs in Twins", `{}`},
		{`bugs "in Mobile App"`, `bugs "in Mobile App"`, `{}`},
		{`bugs in "Mobile App"`, `bugs in "Mobile App"`, `{}`},
		{"login Mobile App", "login Mobile App", `{}`},
	} {
		text, filters, asked, err := filter.ReadText(c.query, now, stored)
		if err != nil || text != c.text || show(filters) != c.filters || len(asked) > 0 {
			t.Errorf("%q: %q %s %v, %v; want %q %s", c.query, text, show(filters), asked, err, c.text, c.filters)
		}
	}
}

// What is looked up is what the second reading needs.
func TestAskedSpellings(t *testing.T) {
	t.Parallel()
	for query := range map[string]bool{"UI bugs in Project X status: To Do": true, "crashes in the Mobile App project when paying": true} {
		_, _, asked, err := filter.ReadText(query, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		known := filter.Stored{}
		for _, one := range asked {
			known[one] = stored[one]
		}
		text, filters, _, _ := filter.ReadText(query, now, known)
		wholly, all, _, _ := filter.ReadText(query, now, stored)
		if text != wholly || show(filters) != show(all) {
			t.Errorf("%q: %q %s with what was asked for, %q %s with all", query, text, show(filters), wholly, show(all))
		}
	}
	if _, _, asked, _ := filter.ReadText("timeout status:Done assignee:me is:open 1:1", now, nil); len(asked) > 0 {
		t.Errorf("asked for %v where nothing is of several words", asked)
	}
}

func TestCorrect(t *testing.T) {
	t.Parallel()
	_, typed, _, err := filter.ReadText("assignee:gary,me -label:ios,web status:Done", now, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := show(typed)
	corrected, changed := typed.Correct([]filter.Candidate{
		{Member: "assignee", Value: "gary", Names: []string{"Gary Mathews"}}, {Member: "labels", Value: "ios", Names: []string{"iOS app"}},
		{Member: "labels", Value: "web", Names: []string{"web1", "web2"}},
	})
	want := `{"statuses":["Done"],"assignee":["Gary Mathews","me"],"not":{"labels":{"any":["iOS app","web"]}}}`
	if !changed || show(corrected) != want || show(typed) != before {
		t.Errorf("%s, %v; want %s; %s before", show(corrected), changed, want, show(typed))
	}
	if _, changed := corrected.Correct(nil); changed {
		t.Error("changed without a value to mean")
	}
}
