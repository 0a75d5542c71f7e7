package conformance_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// asService returns a connection with the rights of the service.
func asService(t *testing.T) *pgx.Conn {
	t.Helper()
	db := testbed.Connect(t, testbed.Database(t).OwnerURL)
	execute(t, db, `set role service_role`, "set search_path = "+testbed.Schema()+", extensions")
	return db
}

// vector is the SQL of a vector of 768 numbers that starts with these and is zero elsewhere.
func vector(first ...string) string {
	return fmt.Sprintf("('[%s%s]')::vector", strings.Join(first, ","), strings.Repeat(",0", 768-len(first)))
}

// A document of 30 days with the cosine 0.8, half of the query's keywords and a utility of 1:
// 0.50 * 0.8 + 0.25 * 0.5 + 0.15 * ln 2 / ln 11 + 0.10 * 0.5, times the weight of its class.
func TestHybridScoreOfADocument(t *testing.T) {
	t.Parallel()
	db := asService(t)
	execute(t, db, `
		insert into documents (title, keywords, temporal_class, utility_score, created_at, embedding_status, archived)
		select title, '{raft consensus,paxos}', class, 1, now() - interval '30 days', 'complete', title = 'archived'
		from (values ('evergreen', 'evergreen'), ('current', 'current'), ('dated', 'dated'), ('historical', 'historical'), ('none', null), ('archived', 'current')) as d (title, class)`,
		`insert into embeddings (document_id, embedding) select id, `+vector("0.8", "0.6")+` from documents`,
		`insert into documents (title, keywords, embedding_status) values ('far', '{raft}', 'complete')`,
		`insert into embeddings (document_id, embedding) select id, `+vector("0.29", "0.957")+` from documents where title = 'far'`)
	type scored struct {
		Title                                                                              string
		Similarity, KeywordScore, UtilityBoost, FreshnessBoost, TemporalWeight, FinalScore float64
	}
	got := rows(t, db, pgx.RowToStructByPos[scored], `
		select title, similarity, keyword_score, utility_boost, freshness_boost, temporal_weight, final_score
		from search_documents_hybrid(`+vector("1")+`, '{RAFT,leader}')`)
	weights := map[string]float64{"evergreen": 1, "current": 1, "none": 1, "dated": 0.7, "historical": 0.5}
	if len(got) != len(weights) {
		t.Errorf("%d documents over the default threshold: %+v", len(got), got)
	}
	utility := math.Log(2) / math.Log(11)
	last := math.Inf(1)
	for _, d := range got {
		weight := weights[d.Title]
		want := scored{d.Title, 0.8, 0.5, utility, 0.5, weight, (0.50*0.8 + 0.25*0.5 + 0.15*utility + 0.10*0.5) * weight}
		for name, pair := range map[string][2]float64{"similarity": {d.Similarity, want.Similarity}, "keyword_score": {d.KeywordScore, want.KeywordScore},
			"utility_boost": {d.UtilityBoost, want.UtilityBoost}, "freshness_boost": {d.FreshnessBoost, want.FreshnessBoost},
			"temporal_weight": {d.TemporalWeight, want.TemporalWeight}, "final_score": {d.FinalScore, want.FinalScore}} {
			if math.Abs(pair[0]-pair[1]) > 1e-5 {
				t.Errorf("%s: %s is %v, want %v", d.Title, name, pair[0], pair[1])
			}
		}
		if d.FinalScore > last {
			t.Errorf("%s is not in the order of final_score", d.Title)
		}
		last = d.FinalScore
	}
	count := func() int64 {
		return rows(t, db, pgx.RowTo[int64], `select retrieval_count from documents where title = 'current'`)[0]
	}
	if n := count(); n != 1 {
		t.Errorf("a search has counted %d retrievals", n)
	}
	rows(t, db, pgx.RowTo[string], `select title from search_documents_hybrid(`+vector("1")+`, '{}', 10, 0.3, false, 30)`)
	if n := count(); n != 1 {
		t.Error("track_retrievals = false counts")
	}
	if n := len(rows(t, db, pgx.RowTo[string], `select title from search_documents_hybrid(`+vector("1")+`, '{}', match_count => 2, match_threshold => 0)`)); n != 2 {
		t.Errorf("match_count 2 returns %d", n)
	}
}

// A retrieval is counted; queries are kept once each, the last 50, cut to 200 characters.
func TestTrackDocumentRetrieval(t *testing.T) {
	t.Parallel()
	db := asService(t)
	execute(t, db, `insert into documents (title) values ('tracked'), ('other')`)
	track := func(query string) (count int64, queries []string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), `select track_document_retrieval(doc_id => id, query_text => $1) from documents where title = 'tracked'`, query); err != nil {
			t.Fatal(err)
		}
		err := db.QueryRow(t.Context(), `select retrieval_count, retrieval_queries from documents where title = 'tracked' and last_retrieved_at is not null`).Scan(&count, &queries)
		if err != nil {
			t.Fatal(err)
		}
		return count, queries
	}
	if count, queries := track("raft"); count != 1 || len(queries) != 1 || queries[0] != "raft" {
		t.Errorf("after the first: %d %q", count, queries)
	}
	if count, queries := track("raft"); count != 2 || len(queries) != 1 {
		t.Errorf("the same query again: %d %q", count, queries)
	}
	if _, queries := track(strings.Repeat("é", 300)); queries[len(queries)-1] != strings.Repeat("é", 200) {
		t.Errorf("a long query is kept as %q", queries)
	}
	for i := range 60 {
		track(fmt.Sprintf("query %d", i))
	}
	if count, queries := track("the last"); count != 64 || len(queries) != 50 || queries[49] != "the last" {
		t.Errorf("after 64: %d, %d queries", count, len(queries))
	}
	if n := rows(t, db, pgx.RowTo[int64], `select retrieval_count from documents where title = 'other'`)[0]; n != 0 {
		t.Errorf("another document was counted %d times", n)
	}
}

// A name is found in part and without regard to case; wildcards are literal.
func TestFindDocumentsByEntity(t *testing.T) {
	t.Parallel()
	db := asService(t)
	execute(t, db, `insert into documents (title, named_entities, archived) values
		('paper', '[{"name": "Raft", "type": "system"}, {"name": "Lena", "type": "person"}]', false),
		('note', '[{"name": "Multi-Raft 100%", "type": "other"}]', false), ('old', '[{"name": "Raft", "type": "system"}]', true)`)
	for call, want := range map[string]string{
		`'raft'`:           "note/Multi-Raft 100%/other paper/Raft/system",
		`'RAFT', 'system'`: "paper/Raft/system",
		`entity_name => 'l', entity_type => 'person'`: "paper/Lena/person",
		`'raft', match_limit => 1`:                    "paper/Raft/system",
		`'0%'`:                                        "note/Multi-Raft 100%/other",
		`'r_ft'`:                                      "",
	} {
		got := rows(t, db, pgx.RowTo[string], `select concat_ws('/', title, matched_entity, matched_type) from find_documents_by_entity(`+call+`) order by 1`)
		if strings.Join(got, " ") != want {
			t.Errorf("find_documents_by_entity(%s) returns %q, want %q", call, got, want)
		}
	}
}
