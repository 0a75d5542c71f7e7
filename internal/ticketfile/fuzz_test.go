package ticketfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzJSONTickets(f *testing.F) {
	for _, seed := range []string{
		"", "\n", oneTicket, oneTicket + "x\n" + oneTicket, "\uFEFF" + oneTicket, "{}", "null", `{"ticket_id":{},"notes":[{}]}`,
		`{"ticket_id":5,"project_id":"S","name":"\u0000n","created_at":"soon","notes":[{"note":"x","status":"\ud800"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRows(t, data, jsonRows("f", bufio.NewReader(bytes.NewReader(data)), decodeTicket))
	})
}

func FuzzJiraTickets(f *testing.F) {
	for _, seed := range []string{
		"", "\n", oneExport, jiraExport, "Issue key;Summary\r\n\"A-1\";\"a\r\nb\"\"\"\r\n", "Summary\tIssue key\na\"b\tA-1",
		linearExport, jiraDetails, "Issue key,Summary\n\"A-1\"x,n\nA-2,\"n", "Issue key,Summary,Created\nA-1,\x00\xff,3/4/25\n\n,,\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := newCSVRows("f", bufio.NewReader(bytes.NewReader(data)), &notices{})
		if err != nil {
			return
		}
		checkRows(t, data, rows.nextTicket)
		rows, err = newCSVRows("f", bufio.NewReader(bytes.NewReader(data)), &notices{})
		if err != nil {
			t.Fatalf("the header could not be read a second time: %v", err)
		}
		for {
			p, err := rows.nextProject()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatalf("project: %v", err)
			}
			checkText(t, p.Key, p.Name, p.Description)
			if p.Key == "" || p.Name == "" {
				t.Fatalf("the project lacks a key or a name: %+v", p)
			}
		}
	})
}

func FuzzGithubIssues(f *testing.F) {
	for _, seed := range []string{"", "[]", githubList, githubPages, "[{\"number\":1}]{\"number\":2", "[[[{}]]]]", "{\"a\":\"\\\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows := newGithubRows("f", bufio.NewReader(bytes.NewReader(data)), &notices{})
		for {
			ticket, err := rows.nextTicket()
			var bad *RowError
			if errors.As(err, &bad) {
				continue
			}
			if err != nil {
				return
			}
			checkReadTicket(t, ticket)
		}
	})
}

// checkRows reads all tickets and checks the guarantees of Ticket and RowError.
func checkRows(t *testing.T, data []byte, next func() (Ticket, error)) {
	last, lines := 0, bytes.Count(data, []byte("\n"))+1
	for {
		ticket, err := next()
		var bad *RowError
		switch {
		case err == io.EOF:
			return
		case errors.As(err, &bad):
			if bad.Line <= last || bad.Line > lines {
				t.Fatalf("bad row on line %d after line %d, in a file of %d lines", bad.Line, last, lines)
			}
			last = bad.Line
			checkText(t, bad.Reason)
		case err != nil:
			t.Fatalf("reading ended with %v", err)
		default:
			checkReadTicket(t, ticket)
		}
	}
}

func checkReadTicket(t *testing.T, ticket Ticket) {
	t.Helper()
	if ticket.Key == "" || ticket.ProjectKey == "" || strings.TrimSpace(ticket.Name) == "" || ticket.Status == "" || ticket.CreatedAt.Year() < 1 || ticket.CreatedAt.Year() > 9999 {
		t.Fatalf("the ticket lacks a field or has an invalid date: %+v", ticket)
	}
	checkText(t, ticket.Key, ticket.ProjectKey, ticket.Name, ticket.Description, ticket.Status)
	for _, n := range ticket.Notes {
		checkText(t, n.Status, n.Text)
	}
	keys := map[string]bool{}
	for _, c := range ticket.Comments {
		checkText(t, c.Key, c.Author, c.Body)
		if c.Key == "" || c.Body == "" || keys[c.Key] {
			t.Fatalf("a comment lacks a key or a text, or repeats a key: %+v", ticket.Comments)
		}
		keys[c.Key] = true
	}
	checkText(t, ticket.Labels...)
	checkText(t, slices.Collect(maps.Values(ticket.Texts))...)
	for _, l := range ticket.Links {
		checkText(t, l.Key)
		if l.Key == "" || strings.EqualFold(l.Key, ticket.Key) || linkKinds[l.Kind].Kind != l.Kind {
			t.Fatalf("invalid link: %+v", l)
		}
	}
}

func checkText(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Fatalf("the text contains U+0000 or invalid UTF-8: %q", s)
		}
	}
}
