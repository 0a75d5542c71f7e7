package api_test

import (
	"net/http"
	"sync"
	"testing"
)

// Readiness needs no token and is not rate-limited, so concurrent checks share one database call.
func TestReadinessIsSharedOut(t *testing.T) {
	t.Parallel()
	s := start(t, counting)
	const askers = 20
	let := make(chan struct{})
	s.database.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "list_migrations" {
			<-let
		}
		return false
	})
	var group sync.WaitGroup
	for range askers {
		group.Go(func() { s.get("/readyz").want(http.StatusOK) })
	}
	s.counted("tasklens_http_requests_in_flight 21") // all of them, and this one
	close(let)
	group.Wait()
	// A request may be counted in flight shortly before it joins the shared call.
	asked := len(s.database.requests("list_migrations"))
	if asked > askers/2 {
		t.Errorf("the database was asked %d times", asked)
	}
	s.get("/readyz").want(http.StatusOK)
	if again := len(s.database.requests("list_migrations")); again != asked+1 {
		t.Errorf("later requests got the earlier reading: %d, then %d reads", asked, again)
	}
}
