package export

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
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
		checkRows(t, linesOf(data), newLines(newStream(bytes.NewReader(data)), newReader(Options{})))
	})
}

func FuzzJiraTickets(f *testing.F) {
	for _, seed := range []string{
		"", "\n", oneExport, jiraExport, "Issue key;Summary\r\n\"A-1\";\"a\r\nb\"\"\"\r\n", "Summary\tIssue key\na\"b\tA-1",
		linearExport, gitlabOld, gitlabNew, jiraDetails, "Issue key,Summary\n\"A-1\"x,n\nA-2,\"n", "Issue key,Summary,Created\nA-1,\x00\xff,3/4/25\n\n,,\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := newRecords(newStream(bytes.NewReader(data)), newReader(Options{}))
		if err == nil {
			checkRows(t, linesOf(data), rows)
		}
	})
}

func FuzzIssues(f *testing.F) {
	for _, seed := range []string{"", "[]", githubList, githubPages, gitlabIssues, "[{\"number\":1}]{\"number\":2", "[[[{}]]]]", "{\"a\":\"\\\"}", jiraIssue, `{"issues":[7,` + jiraIssue + `,{"key":5,"fields":{"x":[[1]],"comment":[]}}],"names":{"x":"y"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if rows, err := newIssues(newStream(bytes.NewReader(data)), newReader(Options{})); err == nil {
			checkRows(t, len(data), rows)
		}
	})
}

// Any files are converted whole or not at all, and what is written is read again as the same rows.
func FuzzConvert(f *testing.F) {
	for name, seed := range map[string]string{"x.csv": jiraDetails, "y.csv": linearExport, "z.csv": gitlabNew, "x.json": githubPages, "y.json": gitlabIssues, "z.json": jiraIssue, "tickets.jsonl": oneTicket + oneTicket, "x.md": "---\ntitle: x\n---\n"} {
		f.Add(name, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz.") != "" || strings.HasPrefix(name, ".") || len(name) > 50 {
			return
		}
		path := t.TempDir()
		for name, data := range map[string][]byte{projectLines: []byte(oneProject), name: data} {
			_ = os.WriteFile(filepath.Join(path, name), data, 0o600) // not of every name
		}
		if name != ticketLines {
			path = filepath.Join(path, name)
		}
		if _, err := os.Stat(path); err != nil {
			return
		}
		folder := filepath.Join(t.TempDir(), "out")
		manifest, err := ConvertTo(folder, io.Discard, Options{}, path)
		if written, _ := os.ReadDir(folder); err != nil && len(written) > 0 {
			t.Fatalf("%v, and yet it wrote %v", err, written)
		}
		again, second := Convert(io.Discard, io.Discard, Options{}, folder)
		if err == nil && (second != nil || again.LeftOut+again.Fields > 0 || again.Projects != manifest.Projects || again.Tickets != manifest.Tickets || again.Documents != manifest.Documents) {
			t.Fatalf("%+v is read again as %+v, %v", manifest, again, second)
		}
	})
}

func linesOf(data []byte) int { return bytes.Count(data, []byte("\n")) + 1 }

// checkRows reads all tickets and checks the guarantees of Ticket and RowError, whose places are at
// most these.
func checkRows(t *testing.T, places int, rows rows) {
	r := newReader(Options{})
	r.tracker = rows.tracker
	last := 0
	for {
		ticket, err := r.next("f", rows)
		bad, is := errors.AsType[*RowError](err)
		switch {
		case is:
			if bad.Line < last || bad.Line > places {
				t.Fatalf("bad row on line %d after line %d, in a file of %d", bad.Line, last, places)
			}
			last = bad.Line
			checkText(t, bad.Reason)
		case err != nil: // also a file of issues that is no JSON
			return
		default:
			r.settle(&ticket)
			checkReadTicket(t, ticket)
		}
	}
}

func checkReadTicket(t *testing.T, ticket Ticket) {
	t.Helper()
	if ticket.Key == "" || ticket.ProjectKey == "" || strings.TrimSpace(ticket.Name) == "" || ticket.Status == "" {
		t.Fatalf("the ticket lacks a field: %+v", ticket)
	}
	checkText(t, ticket.Key, ticket.ProjectKey, ticket.Name, ticket.Description, ticket.Status, ticket.project.Name, ticket.project.Description)
	for _, n := range ticket.Notes {
		checkText(t, n.Status, n.Text)
	}
	for _, c := range ticket.Comments {
		checkText(t, c.Key, c.Author, c.Body)
		if c.Key == "" || c.Body == "" {
			t.Fatalf("a comment lacks a key or a text: %+v", ticket.Comments)
		}
	}
	checkText(t, ticket.Labels...)
	for _, m := range fields {
		if field, is := m.in(&ticket).(*Text); is {
			checkText(t, field.Value)
		}
	}
	for _, l := range ticket.Links {
		checkText(t, l.Key, l.SourceID)
		if l.Key+l.SourceID == "" || kinds[l.Kind].Kind != l.Kind {
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
