package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// While the database stands still, every request that needs it says so, and the log says it once.
func TestDatabaseStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t, logging, func(c *setup) { c.requestTimeout, c.logLevel = 300*time.Millisecond, slog.LevelInfo })
	s.database.intercept(func(_ http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
		<-r.Context().Done()
		return true
	})
	// Repeated, because the time may end in another route.
	for round := range 2 {
		for i, route := range routes {
			if route.path == "/mcp" {
				continue
			}
			id := fmt.Sprintf("standstill-%d-%d", round, i)
			body := strings.ReplaceAll(route.body, "why", id) // not in the cache of embeddings
			r := s.send(route.method, route.path, body, "X-Request-Id", id).want(http.StatusGatewayTimeout)
			if detail := r.problem().Detail; detail != "The database did not answer in time." {
				t.Errorf("%s: %s", route.path, detail)
			}
			if lines := strings.Count(s.log.String(), `"request_id":"`+id+`"`); lines != 1 {
				t.Errorf("%s: %d lines in the log", route.path, lines)
			}
		}
	}
}
