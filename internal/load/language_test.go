package load_test

import (
	"fmt"
	"strings"
	"testing"
)

// The language of a project is that of its line, else of the import; without one it stays.
func TestLanguageOfProjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	projects := `{"project_id":"AB","name":"Pumpen"}` + "\n" + `{"project_id":"CD","name":"Tuyaux","language":"french"}` + "\n"
	again := func(language string) (told, error) {
		rows := files(t, map[string]string{"projects.jsonl": projects, "tickets.jsonl": `{"ticket_id":"AB-1","project_id":"AB","name":"Pumpen tropfen"}` + "\n"})
		var heard told
		_, err := b.load(t.Context(), b.db, rows, heard.report(), options{Language: language})
		return heard, err
	}
	for _, step := range []struct{ given, want string }{{"", "AB -, CD french"}, {"german", "AB german, CD french"}, {"", "AB german, CD french"}} {
		if _, err := again(step.given); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := b.owner.QueryRow(t.Context(), `select string_agg(key || ' ' || coalesce(language, '-'), ', ' order by key) from projects`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != step.want {
			t.Errorf("after an import in %q the languages are %s, want %s", step.given, got, step.want)
		}
	}
	heard, err := again("deutsch")
	if all := fmt.Sprint(heard.bad, err); !strings.Contains(all, `language is deutsch`) {
		t.Errorf("an unknown language: %s", all)
	}
}
