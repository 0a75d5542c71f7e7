package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
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
