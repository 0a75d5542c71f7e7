package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type generated struct {
	Status       string
	EmbeddingIDs []string `json:"embedding_ids"`
	ProjectID    int64    `json:"project_id"`
	TicketID     *int64   `json:"ticket_id"`
	Chunks       int
	Embedded     int
	Reused       int
	Tokens       int
	Model        string
}

var checkout = []project{{Key: "TX", Name: "Checkout", Description: "From basket to receipt."}}

// After an edit of one paragraph, chunks that do not overlap it keep their ids.
func TestGenerateAfterEdit(t *testing.T) {
	t.Parallel()
	s := start(t)
	text := make([]string, 40) // paragraphs, each a few hundred tokens of distinct words
	for i := range text {
		text[i] = strings.TrimSpace(strings.Repeat(fmt.Sprintf("Paragraph %d tells of part %d and nothing else. ", i, i), 12))
	}
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "A long story", Description: strings.Join(text, "\n\n"),
		Notes: []note{{"The end."}}}})
	before := read[generated](s.generate("TX", "TX-1"))
	if before.Chunks < 10 || before.Embedded != before.Chunks {
		t.Fatalf("first call made %+v", before)
	}
	text[38] = strings.Replace(text[38], "part 38", "part ninety", 1)
	db := s.connect()
	run(t, db, "update public.tickets set description = $2 where ticket_id = $1", s.ids["TX-1"], strings.Join(text, "\n\n"))
	after := read[generated](s.generate("TX", "TX-1"))
	if after.Reused < before.Chunks/2 || after.Embedded == 0 || after.Embedded+after.Reused != after.Chunks || after.Tokens >= before.Tokens {
		t.Errorf("second call made %+v of %+v", after, before)
	}
	kept := 0
	for i, chunk := range s.chunks(db, "TX-1") {
		if chunk.ID != after.EmbeddingIDs[i] {
			t.Errorf("chunk %d is %s, in the answer %s", i, chunk.ID, after.EmbeddingIDs[i])
		}
		if slices.Contains(before.EmbeddingIDs, chunk.ID) {
			kept++
			if strings.Contains(chunk.Text, "ninety") {
				t.Errorf("chunk %d was kept, though its text has changed", i)
			}
		}
	}
	if kept != after.Reused {
		t.Errorf("%d chunks kept their ids, the answer says %d", kept, after.Reused)
	}
	if last := after.EmbeddingIDs[after.Chunks-1]; last != before.EmbeddingIDs[before.Chunks-1] {
		t.Error("the note's chunk has another id now")
	}
}

// A text that keeps changing ends in a 503, with nothing stale stored.
func TestTextKeepsChanging(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Restless"}})
	tracker := s.connect()
	s.model.intercept(func(http.ResponseWriter, *http.Request, string, []byte) bool {
		run(t, tracker, "update public.tickets set description = coalesce(description, '') || '.' where ticket_id = $1", s.ids["TX-1"])
		return false
	})
	s.generate("TX", "TX-1").want(http.StatusServiceUnavailable)
	if chunks := s.chunks(tracker, "TX-1"); len(chunks) > 0 {
		t.Errorf("stored are %+v", chunks)
	}
}
