package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	s.index(projects, tickets)
	db := s.connect()
	for n := 1; n <= users; n++ {
		id := s.ids[fmt.Sprintf("T%d", n)]
		run(s.t, db, "insert into public.project_members (project_id, user_id, role) values ($1, $2, 'viewer')", id, userID(n))
		run(s.t, db, "update public.tickets set assignee = $2 where project_id = $1", id, userID(n))
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
		run(t, db, "update public.project_members set project_id = $1 where user_id = $2", s.ids[fmt.Sprintf("T%d", to)], userID(1))
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

// Of what a user may not see there is no count and no name, in answers, candidates and readings. Of
// each project the assignee is its member's id.
func TestNothingHiddenIsNamed(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated, forgetful)
	s.houseMembers()
	for body, want := range map[string]string{
		`{"question":"How many tickets are there per project?"}`: `"count":2,`, `{"question":"How many of my tickets are open?"}`: `"count":2,`,
		`{"question":"How many tickets are assigned to user 2?"}`: "", `{"question":"How many tickets are in project T2?"}`: "", `{"question":"How many tickets are in ` + labelled(2) + `?"}`: "",
		`{"query":"assignee:` + userID(2)[:35] + `"}`: "", `{"query":"in ` + labelled(2) + `"}`: "", `{"query":"project:` + labelled(2) + `"}`: "", `{"query":"T2-99999"}`: "",
		`{"query":"project:` + labelled(1)[1:] + `"}`: `["T1"]`, `{"query":"T1-99999"}`: `["T1-99999"]`,
	} {
		path, hidden := "/api/hybrid-search", `"T2`
		if strings.Contains(body, "question") {
			path, hidden = "/api/query", `"T2-` // it tells how it was read
		}
		text := s.send(http.MethodPost, path, body, asking(s.user(1))...).want(http.StatusOK).text
		if strings.Contains(text, userID(2)) || strings.Contains(text, hidden) || !strings.Contains(text, want) ||
			want == "" && (strings.Contains(text, "unknown_keys") || regexp.MustCompile(`"count":[1-9]|"tickets":\[\{`).MatchString(text)) {
			t.Errorf("%s: %s", body, text)
		}
	}
}
