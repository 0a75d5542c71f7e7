package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTablesAreRefusedInWords(t *testing.T) {
	t.Parallel()
	g := &Gateway{config: Config{Schemas: []string{"public"}, AnonRole: "anon"}}
	recorded := httptest.NewRecorder()
	g.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, "/rest/v1/tickets?select=*", nil))
	if recorded.Code != http.StatusNotFound || !strings.Contains(recorded.Body.String(), `"NO_TABLES"`) {
		t.Errorf("status %d: %s", recorded.Code, recorded.Body)
	}
}
