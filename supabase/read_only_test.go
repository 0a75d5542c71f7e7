package supabase_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

// Functions that only read can be called by GET, in a read-only transaction. The one that may write
// does so only by POST.
func TestSearchByGET(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.OwnerURL)
	_, err := owner.Exec(t.Context(), `
		insert into status (status_id, name) values (1, 'To Do');
		insert into projects (project_id, key, name) values (1, 'AA', 'Pumps');
		insert into tickets (ticket_id, key, project_id, status_id, name) values (1, 'AA-1', 1, 1, 'Pump leaks');
		insert into chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
		select 1, 1, 'ticket', 0, 'Pump leaks', 2, 'h', 'm', ('[1' || repeat(',0', 1535) || ']')::extensions.vector;
		insert into documents (id, title, embedding_status) values ('00000000-0000-4000-8000-000000000001', 'Pumps', 'complete');
		insert into embeddings (document_id, model, embedding)
		select '00000000-0000-4000-8000-000000000001', 'm', ('[1' || repeat(',0', 767) || ']')::extensions.vector;`)
	if err != nil {
		t.Fatal(err)
	}
	restURL, secret := testbed.REST(t, db)
	token, err := gateway.Token(secret, map[string]any{"role": "service_role", "exp": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	long, short := "[1"+strings.Repeat(",0", 1535)+"]", "[1"+strings.Repeat(",0", 767)+"]"
	by := url.Values{"query_embedding": {long}, "embedding_model": {"m"}}
	with := func(values url.Values, name, value string) url.Values {
		out := url.Values{name: {value}}
		for k, v := range values {
			out[k] = v
		}
		return out
	}
	for function, arguments := range map[string]url.Values{
		"search_hybrid": with(by, "query_text", "pump"), "search_by_keyword": {"query_text": {"pump"}}, "search_by_vector": by,
		"search_facets": with(by, "query_text", "pump"), "list_tickets": {}, "retrieve_chunks": with(by, "question", "AA-1"),
		"nearest_chunks":  {"query_embedding": {long}},
		"similar_tickets": with(by, "query_text", "Pump"), "search_documents": {"query_embedding": {short}},
		"search_documents_hybrid": {"query_embedding": {short}, "query_keywords": {"{pump}"}},
		"find_similar_tickets":    {"ticket_id": {"1"}, "embedding_model": {"m"}},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, restURL+"/rpc/"+function+"?"+arguments.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK || len(body) < 10 {
			t.Errorf("%s: %d %.300s", function, response.StatusCode, body)
		}
	}
	var retrieved int
	if err := owner.QueryRow(t.Context(), `select retrieval_count from documents`).Scan(&retrieved); err != nil || retrieved != 0 {
		t.Errorf("a document was counted as retrieved %d times by GET, %v", retrieved, err)
	}
}
