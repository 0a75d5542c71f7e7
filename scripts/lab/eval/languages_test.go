package eval_test

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// Invented trackers of 300 tickets and 30 queries each. A ticket's line is the queries that it
// answers, its name and its description. Even queries were kept to the end.
var trackers = []string{"german", "french", "spanish"}

// One database holds each tracker three times: read in its language, in English and as written.
func TestWordsOfALanguage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := testbed.Connect(t, testbed.Database(t).OwnerURL)
	for _, tracker := range trackers {
		for _, language := range []string{tracker, "english", "simple"} {
			_, err := db.Exec(ctx, `
				with status as (
					insert into status (name, category) values ('Open', 'to_do') on conflict (lower(name)) do update set category = 'to_do' returning status_id
				), project as (
					insert into projects (key, name, language) values ($1 || '_' || $2, $1, $2) returning project_id
				)
				insert into tickets (project_id, status_id, name, description)
				select p.project_id, s.status_id, split_part(line, '|', 2), split_part(line, '|', 3)
				from project p, status s, unnest($3::text[]) with ordinality l(line, place) order by place`, tracker, language, lines(t, tracker+".tickets"))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := db.Exec(ctx, "analyze"); err != nil {
		t.Fatal(err)
	}
	for _, tracker := range trackers {
		tickets, queries := lines(t, tracker+".tickets"), lines(t, tracker+".queries")
		means := map[string][2]float64{}
		for _, language := range []string{tracker, "english", "simple"} {
			var all, kept float64
			for n, query := range queries {
				relevant := map[string]bool{}
				for _, line := range tickets {
					part := strings.Split(line, "|")
					for _, answered := range strings.Split(part[0], ",") {
						if answered == strconv.Itoa(n+1) {
							relevant[part[1]] = true
						}
					}
				}
				var found []string
				err := db.QueryRow(ctx, `select array_agg(r.ticket_name order by r.rank) from search_by_keyword($1, 10, filters => jsonb_build_object('projects', $2::text)) r
					where r.ticket_id is not null`, query, tracker+"_"+language).Scan(&found)
				if err != nil {
					t.Fatal(err)
				}
				var gain, ideal float64
				for rank := range 10 {
					if rank < len(found) && relevant[found[rank]] {
						gain += 1 / math.Log2(float64(rank+2))
					}
					if rank < len(relevant) {
						ideal += 1 / math.Log2(float64(rank+2))
					}
				}
				all += gain / ideal
				if n%2 == 1 {
					kept += gain / ideal
				}
			}
			means[language] = [2]float64{all / float64(len(queries)), kept / float64(len(queries)/2)}
		}
		own, english, simple := means[tracker], means["english"], means["simple"]
		t.Logf("%s, nDCG@10 of all and of the kept queries: as written %.3f, English %.3f, its own %.3f", tracker, simple, english, own)
		if own[0] < simple[0]+0.10 {
			t.Errorf("%s: %.3f, as written %.3f: want 0.10 more", tracker, own[0], simple[0])
		}
		if own[0] < english[0]-0.01 {
			t.Errorf("%s: %.3f, in English %.3f", tracker, own[0], english[0])
		}
	}
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/languages/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
