package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"tasklens/internal/search"
)

func TestTicket(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(trackerProjects, trackerTickets)
	run(t, s.connect(), `insert into public.comments (ticket_id, body, created_at) values ($1, 'first', '2025-03-01'), ($1, repeat('é', 250000), '2025-03-03')`, s.ids["TX-400"])
	cut := read[search.Ticket](s.get("/api/tickets/TX-400?offset=1").want(http.StatusOK)).Comments[0]
	if cut.Cut == nil || *cut.Cut != 200_000 || cut.BodyBytes != 500_000 || utf8.RuneCountInString(cut.Body) != *cut.Cut {
		t.Errorf("a long comment has %d bytes of %d, cut at %v", len(cut.Body), cut.BodyBytes, cut.Cut)
	}
	rest := read[search.Ticket](s.get(fmt.Sprintf("/api/tickets/TX-400?comment=%d&from=%d", cut.CommentID, *cut.Cut)).want(http.StatusOK))
	if len(rest.Comments) != 1 || rest.Comments[0].Body != strings.Repeat("é", 50_000) || rest.Comments[0].Cut != nil || rest.CommentCount != 2 {
		t.Errorf("the rest of a long comment: %.500v", rest)
	}
	s.get("/api/tickets/TX-400?comment=1000000").want(http.StatusNotFound)
	for _, wrong := range []string{"limit=0", "limit=101", "offset=-1", "offset=1000001", "page=2", "comment=0", "comment=x", "from=-1", "from=1000000001"} {
		s.get("/api/tickets/TX-400?" + wrong).want(http.StatusBadRequest)
	}
}
