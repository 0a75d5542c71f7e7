package conformance_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// The tables and columns that SQL may rely on.
func TestTables(t *testing.T) {
	t.Parallel()
	db := testbed.Connect(t, testbed.Database(t).OwnerURL)
	for table, columns := range map[string]string{
		"projects": "project_id bigint, name text, description text",
		"tickets":  "ticket_id bigint, project_id bigint, status_id bigint, name text, description text",
		"status":   "status_id bigint, name text",
		"chunks":   "chunk_id uuid, project_id bigint, ticket_id bigint, text text, embedding vector(1536)",
		"documents": "id uuid, title text, content text, keywords text[], utility_score double precision, temporal_class text, created_at timestamp with time zone, " +
			"archived boolean, embedding_status text, retrieval_count bigint, last_retrieved_at timestamp with time zone, retrieval_queries text[], named_entities jsonb",
		"embeddings": "document_id uuid, chunk_id uuid, embedding vector(768)",
	} {
		for column := range strings.SplitSeq(columns, ", ") {
			name, kind, _ := strings.Cut(column, " ")
			got := rows(t, db, pgx.RowTo[string], `
				select format_type(atttypid, atttypmod) from pg_attribute
				where attrelid = to_regclass($1) and attname = $2 and not attisdropped`, table, name)
			if len(got) != 1 || strings.TrimPrefix(got[0], "extensions.") != kind {
				t.Errorf("%s.%s is %q, want %s", table, name, got, kind)
			}
		}
	}
	for _, table := range []string{"chunks", "embeddings"} {
		definitions := rows(t, db, pgx.RowTo[string], `select indexdef from pg_indexes where schemaname = current_schema() and tablename = $1`, table)
		if all := strings.Join(definitions, "\n"); !strings.Contains(all, "USING hnsw (embedding vector_cosine_ops)") {
			t.Errorf("%s has no HNSW index by cosine:\n%s", table, all)
		}
	}
	rows(t, db, pgx.RowTo[int64], `
		select p.project_id from projects p join tickets t on p.project_id = t.project_id join status s on t.status_id = s.status_id
		where p.project_id = 1 and s.name = 'To Do'`)
}

// describe lists a function's parameters with their defaults, and the columns of its result.
const describe = `
	select replace(pg_get_function_arguments(oid), 'extensions.', '') || ' -> ' || replace(pg_get_function_result(oid), 'extensions.', '')
	from pg_proc where pronamespace = current_schema()::regnamespace and proname = $1`

// The three specified functions, parameter by parameter; more may follow with defaults.
func TestSpecifiedFunctions(t *testing.T) {
	t.Parallel()
	db := testbed.Connect(t, testbed.Database(t).OwnerURL)
	for name, want := range map[string][2]string{
		"search_documents_hybrid": {
			"query_embedding vector, query_keywords text[], match_count integer DEFAULT 10, match_threshold double precision DEFAULT 0.3, " +
				"track_retrievals boolean DEFAULT true, freshness_decay_days integer DEFAULT 30",
			"TABLE(id uuid, title text, content text, similarity double precision, keyword_score double precision, utility_boost double precision, " +
				"freshness_boost double precision, temporal_weight double precision, final_score double precision, keywords text[], temporal_class text)",
		},
		"track_document_retrieval": {"doc_id uuid, query_text text", "void"},
		"find_documents_by_entity": {
			"entity_name text, entity_type text DEFAULT NULL::text, match_limit integer DEFAULT 10",
			"TABLE(id uuid, title text, matched_entity text, matched_type text)",
		},
	} {
		got := rows(t, db, pgx.RowTo[string], describe, name)
		if len(got) != 1 || !strings.HasPrefix(got[0], want[0]) || !strings.HasSuffix(got[0], " -> "+want[1]) {
			t.Errorf("%s is\n%q, want\n%s -> %s", name, got, want[0], want[1])
		}
	}
}

// All functions that programs call by name, as recorded (-update): PostgREST passes parameters by
// name.
func TestFunctionsCalledByName(t *testing.T) {
	t.Parallel()
	const recording = "testdata/functions.txt"
	db := testbed.Connect(t, testbed.Database(t).OwnerURL)
	var now strings.Builder
	for _, name := range []string{"find_documents_by_entity", "find_similar_documents", "find_similar_tickets", "get_ticket", "list_projects", "list_statuses", "list_tickets",
		"search_by_keyword", "search_by_vector", "search_documents", "search_documents_hybrid", "search_facets", "search_hybrid", "similar_tickets", "track_document_retrieval"} {
		for _, signature := range rows(t, db, pgx.RowTo[string], describe, name) {
			now.WriteString(name + "\n  " + strings.NewReplacer(", ", "\n  ", "TABLE(", "\n  ").Replace(signature) + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(recording, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	if string(was) != now.String() {
		t.Errorf("%s differs; it is now\n%s", recording, now.String())
	}
}
