package describe

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const runbook = `# When the ferry's ticket printer stops

Owner: Tomás Rivera. Last changed after FB-90, together with Ilse from Apple Pay.

The printer service ` + "`ticket-printer`" + ` reads from Kafka. Restart the printer service first. If the printer service does not
come back, ask Wiktor in Lisbon; Zanzibor knows the printer's drivers. The encoding is UTF-8.

` + "```\nERROR Kevin Klein failed for Ada\n```\n"

func TestDocument(t *testing.T) {
	t.Parallel()
	got := Document("Ticket printer stops", runbook)
	want := []Entity{{"FB-90", "ticket"}, {"Tomás Rivera", "person"}, {"Ilse", "person"}, {"Apple Pay", "system"}, {"ticket-printer", "system"},
		{"Kafka", "system"}, {"Wiktor", "person"}, {"Lisbon", "place"}}
	if diff := cmp.Diff(want, got.NamedEntities); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if len(got.Keywords) == 0 || got.Keywords[0] != "printer" || slices.ContainsFunc(got.Keywords, func(k string) bool { return k == "drivers" || k == "the" || k == "wiktor" }) {
		t.Errorf("keywords are %q: want the printer, and no word that stands once, is common or a person", got.Keywords)
	}
	many := strings.Repeat("Cranes lift containers, tugs pull barges, pilots board tankers, divers inspect hulls, buoys mark channels. ", 2)
	if got := Document("", many).Keywords; len(got) != maxKeywords {
		t.Errorf("of a longer text: %q", got)
	}
}

func TestTemporalClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, content, want string }{
		{"How to rotate a key", "Make a new one, tell the service, wait an hour, delete the old one.", "evergreen"},
		{"How we write a post-mortem", "Within five days, by one author, who was there when it happened.", "evergreen"},
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

// The service keeps only names that stand in the text.
func FuzzDocument(f *testing.F) {
	f.Add("Ticket printer stops", runbook)
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
