package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPagesOfOtherOriginsMayCall(t *testing.T) {
	t.Parallel()
	g := &Gateway{config: Config{Schemas: []string{"public"}, AnonRole: "anon"}}
	server := httptest.NewServer(g)
	defer server.Close()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodOptions, server.URL+"/rest/v1/rpc/search_by_keyword", nil)
	request.Header.Set("Origin", "http://localhost:5173")
	request.Header.Set("Access-Control-Request-Method", "POST")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent || response.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("status %d, headers %v", response.StatusCode, response.Header)
	}
	for _, name := range []string{"apikey", "x-client-info", "authorization", "content-profile", "accept-profile", "prefer", "content-type"} {
		if !strings.Contains(response.Header.Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("the header %s is not allowed", name)
		}
	}
}

func TestTablesAreRefusedInWords(t *testing.T) {
	t.Parallel()
	g := &Gateway{config: Config{Schemas: []string{"public"}, AnonRole: "anon"}}
	recorded := httptest.NewRecorder()
	g.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, "/rest/v1/tickets?select=*", nil))
	if recorded.Code != http.StatusNotFound || !strings.Contains(recorded.Body.String(), `"NO_TABLES"`) {
		t.Errorf("status %d: %s", recorded.Code, recorded.Body)
	}
}

func TestPrefixedRemovesThePrefixAlone(t *testing.T) {
	t.Parallel()
	rest := Prefixed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.RequestURI())) }))
	for path, want := range map[string]string{"/rest/v1/tickets?id=eq.1": "/tickets?id=eq.1", "/tickets": ""} {
		recorded := httptest.NewRecorder()
		rest.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, path, nil))
		if want == "" && recorded.Code != http.StatusNotFound || want != "" && recorded.Body.String() != want {
			t.Errorf("%s: status %d, %s", path, recorded.Code, recorded.Body)
		}
	}
}
