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

// The tracker edits a ticket while its text is being embedded: the chunks stored in the end are of
// the latest text.
func TestTextChangesWhileEmbedded(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Old name", Description: strings.Join(paragraphs(12), "\n\n"),
		Notes: []note{{"An old note."}}}})
	tracker := s.connect()
	var once sync.Once
	s.model.intercept(func(http.ResponseWriter, *http.Request, string, []byte) bool {
		once.Do(func() {
			run(t, tracker, "update public.tickets set description = 'The present text.' where ticket_id = $1", s.ids["TX-1"])
			run(t, tracker, "insert into public.status_changes (ticket_id, note) values ($1, 'A new note.')", s.ids["TX-1"])
		})
		return false
	})
	made := read[generated](s.generate("TX", "TX-1"))
	var texts, ids []string
	for _, chunk := range s.chunks(tracker, "TX-1") {
		texts, ids = append(texts, chunk.Text), append(ids, chunk.ID)
	}
	if want := []string{"Old name\n\nThe present text.", "An old note.", "A new note."}; !slices.Equal(texts, want) {
		t.Errorf("stored are %q, not %q", texts, want)
	}
	if !slices.Equal(made.EmbeddingIDs, ids) || made.Chunks != 3 {
		t.Errorf("answer is %+v, stored are %q", made, ids)
	}
	sent := map[string]int{}
	for _, input := range s.model.inputs(t) {
		sent[input]++
	}
	if sent["Checkout — Old name\n\nAn old note."] != 1 {
		t.Error("the note that did not change was sent to the model twice")
	}
	if made.Tokens <= 500 {
		t.Errorf("tokens are %d: those of the first text, which was paid for too, are missing", made.Tokens)
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

func TestTicketDeletedWhileEmbedded(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Short-lived"}})
	tracker := s.connect()
	s.model.intercept(func(http.ResponseWriter, *http.Request, string, []byte) bool {
		run(t, tracker, "delete from public.tickets")
		return false
	})
	s.generate("TX", "TX-1").want(http.StatusNotFound)
}

func TestGenerateAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Wanted twice", Description: strings.Join(paragraphs(8), "\n\n")}})
	// Both requests reach the model before either stores.
	const callers = 2
	var together sync.WaitGroup
	together.Add(callers)
	s.model.intercept(func(http.ResponseWriter, *http.Request, string, []byte) bool {
		together.Done()
		together.Wait()
		return false
	})
	answers := make([]generated, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { answers[i] = read[generated](s.generate("TX", "TX-1")) })
	}
	group.Wait()
	var ids []string
	for _, chunk := range s.chunks(s.connect(), "TX-1") {
		ids = append(ids, chunk.ID)
	}
	if len(ids) == 0 || !slices.ContainsFunc(answers, func(a generated) bool { return slices.Equal(a.EmbeddingIDs, ids) }) {
		t.Errorf("stored are %q, the answers say %+v", ids, answers)
	}
	s.model.intercept(nil)
	if again := read[generated](s.generate("TX", "TX-1")); !slices.Equal(again.EmbeddingIDs, ids) || again.Tokens != 0 {
		t.Errorf("after both %+v was made", again)
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

func TestTicketHeldThroughout(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Held"}})
	tx := hold(t, s.connect(), s.ids["TX-1"])
	s.generate("TX", "TX-1").want(http.StatusServiceUnavailable)
	if err := tx.Commit(context.Background()); err != nil {
		t.Errorf("the tracker's own write failed: %v", err)
	}
	asked := len(s.model.requests("embeddings"))
	if asked != 1 {
		t.Errorf("the same text was sent to the model %d times", asked)
	}
	s.generate("TX", "TX-1").want(http.StatusOK)
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
