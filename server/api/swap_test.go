package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

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

// Readers see all chunks of exactly one text at any moment.
func TestReadersSeeOneSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	texts := map[string]string{}
	for _, word := range []string{"alpha", "omega"} {
		texts[word] = strings.ReplaceAll(strings.Join(paragraphs(10), "\n\n"), "Paragraph", word)
	}
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Swapped", Description: texts["alpha"]}})
	size := read[generated](s.generate("TX", "TX-1")).Chunks

	reader, tracker := s.connect(), s.connect()
	stop, stopped := context.WithCancel(context.Background())
	seen := map[string]int{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for stop.Err() == nil {
			chunks := s.chunks(reader, "TX-1")
			word := "omega"
			if len(chunks) > 0 && strings.Contains(chunks[0].Text, "alpha") {
				word = "alpha"
			}
			seen[word]++
			for _, chunk := range chunks {
				if len(chunks) != size || !strings.Contains(chunk.Text, word) {
					t.Errorf("a reader saw %d chunks of %d, one of them %.60q in a set of %s", len(chunks), size, chunk.Text, word)
					return
				}
			}
			if len(chunks) == 0 {
				t.Error("a reader saw no chunks")
				return
			}
		}
	}()
	for _, word := range []string{"omega", "alpha", "omega", "alpha", "omega"} {
		run(t, tracker, "update public.tickets set description = $2 where ticket_id = $1", s.ids["TX-1"], texts[word])
		s.generate("TX", "TX-1").want(http.StatusOK)
	}
	stopped()
	<-done
	if seen["alpha"] == 0 || seen["omega"] == 0 {
		t.Errorf("the reader saw the sets %v times: it did not run meanwhile", seen)
	}
}

// hold locks a ticket, as a tracker that edits it does.
func hold(t testing.TB, tracker *pgx.Conn, ticketID int64) pgx.Tx {
	t.Helper()
	tx, err := tracker.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(context.Background(), "update public.tickets set name = 'Edited' where ticket_id = $1", ticketID); err != nil {
		t.Fatal(err)
	}
	return tx
}

// The tracker locks the ticket and then its project: the opposite order of ours. It neither waits
// for us nor becomes the victim of a deadlock, and afterwards the current text is stored.
func TestTicketHeldForAWhile(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Held"}})
	tracker := s.connect()
	tx := hold(t, tracker, s.ids["TX-1"])
	var once sync.Once
	s.database.then(func(name string) {
		if name != "store_chunks" {
			return
		}
		once.Do(func() {
			if _, err := tx.Exec(context.Background(), "update public.projects set name = 'Checkout two' where key = 'TX'"); err != nil {
				t.Errorf("the tracker's own write failed: %v", err)
			}
			if err := tx.Commit(context.Background()); err != nil {
				t.Errorf("the tracker's own commit failed: %v", err)
			}
		})
	})
	if made := read[generated](s.generate("TX", "TX-1")); made.Chunks != 1 {
		t.Errorf("made was %+v", made)
	}
	if chunks := s.chunks(tracker, "TX-1"); len(chunks) != 1 || chunks[0].Text != "Edited" {
		t.Errorf("stored are %+v", chunks)
	}
	if inputs := s.model.inputs(t); !slices.Contains(inputs, "Checkout two — Edited\n\nEdited") {
		t.Errorf("embedded were %q", inputs)
	}
	if stores := len(s.database.requests("store_chunks")); stores < 2 {
		t.Errorf("stored at the attempt %d: the ticket was not held", stores)
	}
}
