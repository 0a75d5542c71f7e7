package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"tasklens/internal/search"
)

// A ticket is read whole, by its key as people type it or by its id.
func TestTicket(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load([]project{{Key: "TX", Name: "Checkout"}}, []ticket{
		{Key: "TX-400", Project: "TX", Name: "Charged twice", Description: "On retry.", Status: "Done", Notes: []note{{Note: "Patch is up."}}},
		{Key: "shop/web#7", Project: "TX", Name: "From another tracker"},
	})
	run(t, s.connect(), "insert into public.comments (ticket_id, author, body) values ($1, 'Ada', 'Seen again.')", s.ids["TX-400"])
	run(t, s.connect(), "update public.tickets set ticket_type = 'Bug' where ticket_id = $1", s.ids["TX-400"])
	for _, name := range []string{"TX-400", "tx-400", "%20TX-400%20", fmt.Sprint(s.ids["TX-400"])} {
		got := read[search.Ticket](s.get("/api/tickets/" + name))
		if got.TicketID != s.ids["TX-400"] || got.TicketKey != "TX-400" || *got.Description != "On retry." || got.Status != "Done" || *got.Type != "Bug" ||
			got.ProjectKey != "TX" || len(got.Notes) != 1 || got.Notes[0].Text != "Patch is up." || len(got.Comments) != 1 || got.Comments[0].Text != "Seen again." || got.CommentCount != 1 {
			t.Errorf("%s is %+v", name, got)
		}
	}
	if got := read[search.Ticket](s.get("/api/tickets/" + url.PathEscape("shop/web#7"))); got.TicketID != s.ids["shop/web#7"] || len(got.Comments) != 0 {
		t.Errorf("a key with a slash is %+v", got)
	}
	for _, name := range []string{"TX-401", "0", "-1", "99999999999999999999"} {
		s.get("/api/tickets/" + name).want(http.StatusNotFound)
	}
	for _, name := range []string{"%20", "a%00", "%ff", "TX-400?x=1"} {
		s.get("/api/tickets/" + name).want(http.StatusBadRequest)
	}
}
