package describe

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const runbook = `# When the ferry's ticket printer stops

Owner: Tomás Rivera. Last changed after FB-90, together with Ilse from the Harbour Bank.

The printer service ` + "`ticket-printer`" + ` reads from Kafka. Restart the printer service first. If the printer service does not
come back, ask Wiktor in Lisbon; Zanzibor knows the printer's drivers. The encoding is UTF-8.

` + "```\nERROR Kevin Klein failed\n```\n"

func TestEntities(t *testing.T) {
	t.Parallel()
	want := []Entity{{"FB-90", "ticket"}, {"Tomás Rivera", "person"}, {"Ilse", "person"}, {"Harbour Bank", "organization"}, {"ticket-printer", "system"},
		{"Kafka", "system"}, {"Wiktor", "person"}, {"Lisbon", "place"}, {"Zanzibor", "other"}}
	got := Document("Ticket printer stops", runbook).NamedEntities
	byName := func(a, b Entity) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	slices.SortFunc(got, byName)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	for text, want := range map[string][]Entity{
		"Mrs. Okafor has it on her phone, which is a Galaxy A13, and she calls on Mondays.":  {{"Okafor", "person"}, {"Galaxy A13", "other"}},
		"Marisol Okonkwo and Bruno wrote it. Quibbling Zanders is in. Zorking is off.":       {{"Marisol Okonkwo", "other"}, {"Okonkwo", "other"}, {"Bruno", "person"}, {"Quibbling Zanders", "other"}, {"Zanders", "other"}},
		"Die Aufsicht akzeptiert die Frist, wenn wir es in der Antwort an die Person sagen.": {},
	} {
		if diff := cmp.Diff(want, Document("", text).NamedEntities); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if got := Document("Anything", strings.Repeat("Then came ABC-1, and so on. ", 3)).NamedEntities; len(got) != 1 {
		t.Errorf("a name that stands thrice: %v", got)
	}
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	got := Document("The connection pool", "A connection pool runs empty when the pool's bound is low. The connection pool of ferries, and ferries.").Keywords
	if diff := cmp.Diff([]string{"connection pool", "ferries"}, got[:min(2, len(got))]); diff != "" {
		t.Errorf("keywords (-want +got):\n%s", diff)
	}
	for _, no := range []string{"the", "and", "when", "connection", "pool"} {
		if slices.Contains(got, no) {
			t.Errorf("%q is a keyword among %q", no, got)
		}
	}
	const times = "A ferry waits three hours. The ferry's page has a crane, and every page of three hours a name."
	if diff := cmp.Diff([]string{"page", "harbour", "ferry"}, Document("Harbour page", times).Keywords); diff != "" {
		t.Errorf("what is named once, measures and generalities are no keywords but in the title (-want +got):\n%s", diff)
	}
	twice := strings.Repeat("Cranes lift containers, tugs pull barges, pilots board tankers, divers inspect hulls, buoys mark channels, lighthouses warn. ", 2)
	if got := Document("", twice).Keywords; len(got) != maxKeywords {
		t.Errorf("of a longer text: %q", got)
	}
}

func TestTemporalClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, content, want string }{
		{"How to rotate a key", "Make a new one, tell the service, wait an hour, delete the old one.", "evergreen"},
		{"How we write a post-mortem", "Within five days, by one author, who was there when it happened.", "evergreen"},
		{"Customers", "Their clock was ahead; we allow three minutes of skew since then.", "evergreen"},
		{"Rota of the summer", "Who is on call this quarter, week by week, and who steps in.", "current"},
		{"Post-mortem: no tickets for an hour", "On Friday nobody could buy anything for an hour.", "dated"},
		{"Deploying by hand", "Superseded: this is what we did before there was a pipeline.", "historical"},
		{"A title", "", "unknown"},
	} {
		if got := Document(c.title, c.content).TemporalClass; got != c.want {
			t.Errorf("%q is %s, not %s", c.title, got, c.want)
		}
	}
}

// Any document gets a description that is valid JSON.
func FuzzDocument(f *testing.F) {
	f.Add("Ticket printer stops", runbook)
	f.Add("", "")
	f.Add("Ä", "`a-b` AB-1 's ’s X's … \x00 Übermut GmbH Tomás Tomás")
	f.Fuzz(func(t *testing.T, title, content string) {
		d := Document(title, content)
		if d.Keywords == nil || d.NamedEntities == nil || d.TemporalClass == "" || len(d.Keywords) > maxKeywords || len(d.NamedEntities) > maxEntities {
			t.Errorf("said is %+v", d)
		}
		for _, e := range d.NamedEntities {
			if e.Name == "" || !strings.Contains(title+"\n"+content, e.Name) {
				t.Errorf("%q does not stand in the text", e.Name)
			}
		}
	})
}
