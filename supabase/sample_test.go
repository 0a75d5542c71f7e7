package supabase_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The sample documents are many enough to get lost among, and each question about them names one
// that is there.
func TestSampleDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("sample/documents/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if words := len(strings.Fields(string(text))); words < 80 || words > 600 || !strings.HasPrefix(string(text), "---\ntitle: ") {
			t.Errorf("%s: %d words", file, words)
		}
	}
	lines, err := os.ReadFile("sample/document_questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	asked, paraphrases := 0, 0
	for line := range strings.Lines(string(lines)) {
		var q struct {
			Question   string
			Document   string
			Paraphrase bool
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Question == "" {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := os.Stat(filepath.Join("sample/documents", q.Document)); err != nil {
			t.Errorf("%s: %v", q.Question, err)
		}
		asked++
		if q.Paraphrase {
			paraphrases++
		}
	}
	if asked < 30 || paraphrases < asked*2/5 {
		t.Errorf("%d questions, %d of them paraphrases", asked, paraphrases)
	}
}

// The sample looks like a tracker: most tickets were talked about, several of them at length and in
// order, and no kind or priority is that of nearly all.
func TestSampleTickets(t *testing.T) {
	t.Parallel()
	tickets, talked, discussed := 0, 0, 0
	shares := map[string]int{}
	keys := map[string]bool{}
	eachLine(t, "sample/tickets.jsonl", func(line []byte) error {
		var ticket struct {
			Key      string    `json:"ticket_id"`
			Type     string    `json:"ticket_type"`
			Created  time.Time `json:"created_at"`
			Updated  time.Time `json:"updated_at"`
			Priority string
			Assignee string
			Comments []struct {
				Key, Author, Body string
				Created           time.Time `json:"created_at"`
			}
		}
		if err := json.Unmarshal(line, &ticket); err != nil {
			return err
		}
		tickets++
		for _, value := range []string{ticket.Type, "priority " + ticket.Priority, "assignee " + ticket.Assignee} {
			shares[value]++
		}
		if len(ticket.Comments) > 0 {
			talked++
		}
		if len(ticket.Comments) > 1 {
			discussed++
		}
		last := ticket.Created
		for _, c := range ticket.Comments {
			if keys[c.Key] || c.Author == "" || strings.TrimSpace(c.Body) == "" || !c.Created.After(last) && !c.Created.Equal(ticket.Created) || c.Created.After(ticket.Updated) {
				t.Errorf("%s: comment %s of %s", ticket.Key, c.Key, c.Created)
			}
			keys[c.Key], last = true, c.Created
		}
		return nil
	})
	if talked < tickets*3/4 || discussed < tickets/2 {
		t.Errorf("of %d tickets %d have comments, %d more than one", tickets, talked, discussed)
	}
	for value, n := range shares {
		if n > tickets*3/5 {
			t.Errorf("%d of %d tickets are %s", n, tickets, value)
		}
	}
}

// What is asked of comments stands in a comment of the ticket to cite, and not in the ticket's own
// texts.
func TestSampleCommentQuestions(t *testing.T) {
	t.Parallel()
	own, comments := map[string]string{}, map[string]string{}
	eachLine(t, "sample/tickets.jsonl", func(line []byte) error {
		var ticket struct {
			Key         string `json:"ticket_id"`
			Name        string
			Description string
			Notes       []struct{ Note string }
			Comments    []struct{ Key, Author, Body string }
		}
		if err := json.Unmarshal(line, &ticket); err != nil {
			return err
		}
		own[ticket.Key] = ticket.Name + " " + ticket.Description
		for _, note := range ticket.Notes {
			own[ticket.Key] += " " + note.Note
		}
		for _, c := range ticket.Comments {
			comments[ticket.Key] += " " + c.Body
		}
		return nil
	})
	asked := 0
	eachLine(t, "sample/comment_questions.jsonl", func(line []byte) error {
		var q struct {
			Cite, Says []string
		}
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		asked++
		if len(q.Cite) != 1 || len(q.Says) != 1 || !strings.Contains(comments[q.Cite[0]], q.Says[0]) || strings.Contains(own[q.Cite[0]], q.Says[0]) {
			t.Errorf("%s", line)
		}
		return nil
	})
	if asked != 20 {
		t.Errorf("%d questions", asked)
	}
}

func eachLine(t *testing.T, file string, do func([]byte) error) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if err := do([]byte(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}
