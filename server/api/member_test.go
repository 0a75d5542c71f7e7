package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/index"
)

// houseMembers gives each user their own project in the database, with two tickets, and returns a
// function for the second one's id.
func (s *service) houseMembers() func(n int) int64 {
	s.t.Helper()
	var projects []project
	var tickets []ticket
	for n := 1; n <= users; n++ {
		key := fmt.Sprintf("T%d", n)
		projects = append(projects, project{Key: key, Name: labelled(n)})
		for i := range 2 {
			tickets = append(tickets, ticket{Key: fmt.Sprintf("%s-%d", key, i), Project: key, Name: labelled(n), Description: labelled(n)})
		}
	}
	s.load(projects, tickets)
	db := s.connect()
	for n := 1; n <= users; n++ {
		key := fmt.Sprintf("T%d", n)
		id := s.ids[key]
		if _, err := db.Exec(s.t.Context(), "insert into public.project_members (project_id, user_id, role) values ($1, $2, 'viewer')", id, userID(n)); err != nil {
			s.t.Fatal(err)
		}
		run(s.t, db, "update public.tickets set assignee = $2 where project_id = $1", id, userID(n))
		s.embed(index.Source{ProjectID: id})
		for i := range 2 {
			ticket := s.ids[fmt.Sprintf("%s-%d", key, i)]
			s.embed(index.Source{ProjectID: id, TicketID: &ticket})
		}
	}
	return func(n int) int64 { return s.ids[fmt.Sprintf("T%d-1", n)] }
}

// 64 users send identical requests concurrently, on one or many connections, streamed or not,
// cached or collapsed. Nobody receives another user's data.
func TestNoMemberSeesAnothersProject(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated, func(c *setup) { c.cacheBytes, c.threshold = 200_000, 0.1 }) // little enough to forget some
	s.crowd(20, ofTracker, s.houseMembers())
	if strings.Contains(s.log.String(), "eyJ") {
		t.Error("a token stands in the log")
	}
}

// Access, also to cached responses, ends with a membership and begins with it.
func TestMembershipEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated, func(c *setup) { c.threshold = 0.1 })
	ticket := s.houseMembers()
	db, token := s.connect(), s.user(1)
	// The user is not the assignee of any ticket of the other project.
	requests := slices.DeleteFunc(slices.Clone(ofTracker), func(r call) bool {
		return strings.Contains(r.path, "{ticket}") || strings.Contains(r.body, "assignee")
	})
	for range 2 { // the second time, from memory
		for _, r := range requests {
			s.onlyTheirs(r, token, 1)
		}
	}
	move := func(to int) {
		t.Helper()
		if _, err := db.Exec(t.Context(), "update public.project_members set project_id = $1 where user_id = $2", s.ids[fmt.Sprintf("T%d", to)], userID(1)); err != nil {
			t.Fatal(err)
		}
	}
	move(2)
	for _, r := range requests {
		s.onlyTheirs(r, token, 2)
	}
	s.get(fmt.Sprintf("/api/tickets/%d/similar", ticket(1)), asking(token)...).want(http.StatusNotFound)
	move(1)
	for _, r := range requests {
		s.onlyTheirs(r, token, 1)
	}
}
