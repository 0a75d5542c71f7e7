package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/vector"
)

// tokens is a tokenizer with this many bytes per token.
type tokens int

func (size tokens) Lengths(text string) (lengths []int) {
	for ; len(text) > int(size); text = text[size:] {
		lengths = append(lengths, int(size))
	}
	return append(lengths, len(text))
}

// shelf is a database with one project, whose tickets have these texts, and a model.
type shelf struct {
	texts  []string
	tokens tokens
	before func(ctx context.Context, function string) error // each call that stores

	changed   int // this many calls find another text than the one read
	calls     []storing
	chunks    map[int64][]map[string]any // by ticket; its source_id is one more
	embedded  map[string]int
	requests  int            // to the model
	longest   int            // input that the model takes whole, in bytes; 0: any
	refused   string         // what no input may contain
	truncated map[int64]bool // by ticket
}

// storing is a call that stores chunks.
type storing struct {
	function    string
	rows, bytes int
}

func (s *shelf) Call(ctx context.Context, function string, arguments, result any) error {
	var asked struct {
		SourceIDs []int64 `json:"source_ids"`
		Sources   []struct {
			SourceID  int64 `json:"source_id"`
			Truncated bool  `json:"truncated"`
		}
		Chunks []map[string]any
	}
	body, err := json.Marshal(arguments)
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		return err
	}
	var rows []map[string]any
	switch function {
	case "read_sources":
		for _, id := range asked.SourceIDs {
			rows = append(rows, map[string]any{
				"source_id": id, "names": []string{"P", "T"}, "source_hash": "h", "chunks": s.chunks[id-1],
				"texts": []any{map[string]any{"kind": "ticket", "text": s.texts[id-1]}}, "sources_read": len(asked.SourceIDs), "embedding_model": "m",
				"stored_truncated": s.truncated[id-1],
			})
		}
		return answer(rows, result)
	}
	s.calls = append(s.calls, storing{function, len(asked.Chunks), len(body)})
	if s.before != nil {
		if err := s.before(ctx, function); err != nil {
			return err
		}
	}
	if s.changed--; s.changed >= 0 {
		return answer(slices.Repeat([]map[string]any{{}}, len(asked.Sources)), result)
	}
	ids := map[int64][]string{}
	for _, chunk := range asked.Chunks {
		id := int64(chunk["source_id"].(float64)) - 1
		if chunk["chunk_id"] == nil {
			chunk["chunk_id"] = fmt.Sprintf("%d-%d", id, len(s.chunks[id]))
			s.chunks[id] = append(s.chunks[id], chunk)
		}
		ids[id] = append(ids[id], chunk["chunk_id"].(string))
	}
	for _, source := range asked.Sources {
		s.truncated[source.SourceID-1] = source.Truncated
		rows = append(rows, map[string]any{"stored": true, "embedding_ids": ids[source.SourceID-1]})
	}
	return answer(rows, result)
}

func answer(rows, result any) error {
	body, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, result)
}

func (s *shelf) Embed(ctx context.Context, _ string, inputs []string) (vectors []vector.Vector, cut []int, err error) {
	if ctx.Err() != nil {
		return nil, nil, fault.Wrap(fault.Timeout, "The model did not answer in time.", ctx.Err())
	}
	s.requests++
	for i, input := range inputs {
		if s.refused != "" && strings.Contains(input, s.refused) {
			vectors, err = append(vectors, nil), fault.ErrInput
			continue
		}
		if s.longest > 0 && len(input) > s.longest {
			cut = append(cut, i)
		}
		s.embedded[input]++
		long := make(vector.Vector, vector.Dimensions)
		for i := range long {
			long[i] = -0.01234567
		}
		vectors = append(vectors, long)
	}
	return vectors, cut, err
}

func (s *shelf) EmbeddingModel() string { return "m" }

// index indexes all tickets.
func (s *shelf) index(ctx context.Context) ([]*index.Result, error) {
	if s.chunks == nil {
		s.chunks, s.embedded, s.truncated = map[int64][]map[string]any{}, map[string]int{}, map[int64]bool{}
	}
	var ids []int64
	for i := range s.texts {
		ids = append(ids, int64(i+1))
	}
	return index.New(s, s.tokens).All(ctx, s, ids)
}

func (s *shelf) mustHaveEmbeddedOnce(t *testing.T) {
	t.Helper()
	for input, n := range s.embedded {
		if n > 1 {
			t.Errorf("%.40q was embedded %d times", input, n)
		}
	}
}

// text returns a text of this many bytes whose chunks all differ.
func text(number, bytes int) string {
	var long strings.Builder
	for i := 0; long.Len() < bytes; i++ {
		fmt.Fprintf(&long, "word%d-%d ", number, i)
	}
	return long.String()[:bytes]
}

// One call stores at most 40 chunks and 900,000 bytes of several tickets.
func TestBoundsOfOneCall(t *testing.T) {
	t.Parallel()
	// Each of 30 tickets is one chunk: a new chunk counts 18,732 bytes besides its text.
	const share = 900_000/30 - 18_732
	for name, c := range map[string]struct {
		tickets, bytes, more int // more of the first ticket
		calls                int
	}{
		"as many rows as fit":  {40, 100, 0, 1},
		"one row more":         {41, 100, 0, 2},
		"as many bytes as fit": {30, share, 0, 1},
		"one byte more":        {30, share, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{tokens: 25} // long chunks
			for i := range c.tickets {
				s.texts = append(s.texts, text(i, c.bytes))
			}
			s.texts[0] = text(0, c.bytes+c.more)
			results, err := s.index(t.Context())
			if err != nil || len(results) != c.tickets || len(s.embedded) != c.tickets || len(s.calls) != c.calls {
				t.Errorf("%d tickets, %d inputs: %+v, %v", len(results), len(s.embedded), s.calls, err)
			}
			for _, call := range s.calls {
				if call.function != "store_chunks" || call.rows > 40 || call.bytes > 1_000_000 {
					t.Errorf("a call of %+v", call)
				}
			}
		})
	}
}

// A longer ticket is stored whole, in a call of its own, up to 2,000 chunks.
func TestLongTicketsAreStoredWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bytes, least, most int }{{600_000, 50, 2000}, {25_000_000, 2000, 2000}} {
		s := &shelf{tokens: 25, texts: []string{text(0, 100), text(1, c.bytes), text(2, 100)}}
		results, err := s.index(t.Context())
		if err != nil || len(results) != 3 || results[1].Embedded != len(s.chunks[1]) || len(results[1].EmbeddingIDs) != len(s.chunks[1]) {
			t.Fatalf("%d results, %v", len(results), err)
		}
		if got := len(s.chunks[1]); got < c.least || got > c.most {
			t.Errorf("%d bytes have %d chunks, want %d to %d", c.bytes, got, c.least, c.most)
		}
		if results[1].Truncated != (c.least == 2000) || results[0].Truncated {
			t.Errorf("of %d bytes, truncated is %t", c.bytes, results[1].Truncated)
		}
		s.mustHaveEmbeddedOnce(t)
		if len(s.calls) != 3 || s.calls[1].rows != len(s.chunks[1]) {
			t.Errorf("%d bytes are stored by %+v", c.bytes, s.calls)
		}
		for _, call := range s.calls {
			if call.function != "store_chunks" || call.bytes > 60_000_000 {
				t.Errorf("a call of %+v", call)
			}
		}
	}
}

// A run whose time ends while chunks are being stored finishes storing, so that the next run need
// not embed them again; it does not wait for a database that hangs.
func TestEmbeddedChunksAreStoredAtTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &shelf{tokens: 5, texts: []string{text(0, 300_000)}}
		s.before = func(during context.Context, _ string) error {
			if len(s.calls) == 1 {
				cancel()
				time.Sleep(59 * time.Second)
			}
			return during.Err()
		}
		_, err := s.index(ctx)
		if err != nil || len(s.calls) != 1 || len(s.chunks[0]) != len(s.embedded) {
			t.Errorf("%d calls stored %d of %d chunks: %v", len(s.calls), len(s.chunks[0]), len(s.embedded), err)
		}
		if results, err := s.index(t.Context()); err != nil || results[0].Err != nil {
			t.Errorf("the next run: %+v, %v", results, err)
		}
		s.mustHaveEmbeddedOnce(t)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		// One that shares a call has less time than a large one.
		s := &shelf{tokens: 5, texts: []string{text(0, 100)}}
		s.before = func(during context.Context, _ string) error {
			cancel()
			<-during.Done()
			return during.Err()
		}
		began := time.Now()
		if _, err := s.index(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
			t.Errorf("a database that hangs is left after %v: %v", time.Since(began), err)
		}
	})
}

// Chunks that could not be stored are stored again without the model: in smaller groups if a call
// was too large, at once if a text was being edited.
func TestFailedChunksAreNotEmbeddedAgain(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*shelf{
		"written":   {tokens: 5, texts: []string{text(0, 50_000)}, changed: 2},
		"in groups": {tokens: 5, texts: []string{text(0, 100), text(1, 2_000), text(2, 100), text(3, 2_000), text(4, 2_000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s.before = func(context.Context, string) error {
					if call := s.calls[len(s.calls)-1]; call.rows > 2 && call.rows < 20 {
						return fault.New(fault.Timeout, "Slow.")
					}
					return nil
				}
				results, err := s.index(t.Context())
				for i, result := range results {
					if err != nil || result.Err != nil || len(result.EmbeddingIDs) != len(s.chunks[int64(i)]) {
						t.Errorf("ticket %d: %+v, %v", i, result, err)
					}
				}
				s.mustHaveEmbeddedOnce(t)
			})
		})
	}
}

// A text that changes whenever it has been embedded is given up in the end, with nothing stored.
func TestTextThatKeepsChanging(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{tokens: 5, texts: []string{text(0, 100)}, changed: 1000}
		if _, err := s.index(t.Context()); !errors.Is(err, index.ErrUndone) || len(s.calls) > 10 || len(s.chunks[0]) > 0 {
			t.Errorf("after %d calls: %v", len(s.calls), err)
		}
	})
}

// What a request embedded is stored before the next request, so a crash costs at most one.
func TestStoresWhatOneRequestEmbedded(t *testing.T) {
	t.Parallel()
	s := shelf{tokens: 1}
	for i := range 6 {
		s.texts = append(s.texts, strings.Repeat(fmt.Sprintf("The pump number %d stands still. ", i), 4000)) // over 120,000 tokens
	}
	stored := 0
	s.before = func(context.Context, string) error {
		if s.requests > stored+1 {
			t.Errorf("%d requests were made before a store, after %d", s.requests, stored)
		}
		stored = s.requests
		return nil
	}
	if _, err := s.index(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.requests < 3 {
		t.Errorf("all was embedded in %d requests, want several", s.requests)
	}
}

// A source with a chunk that the model does not take whole counts as truncated as long as it has
// it, and the chunk is not embedded again.
func TestChunksThatTheModelCuts(t *testing.T) {
	t.Parallel()
	s := &shelf{texts: []string{"short", strings.Repeat("long ", 60)}, tokens: 4, longest: 200}
	for round := range 2 {
		results, err := s.index(t.Context())
		if err != nil || results[0].Truncated || !results[1].Truncated || s.requests != 1 || s.truncated[0] || !s.truncated[1] {
			t.Errorf("round %d: %+v after %d requests, stored as %v: %v", round, results, s.requests, s.truncated, err)
		}
	}
	s.texts[1] = "shorter"
	if results, err := s.index(t.Context()); err != nil || results[1].Truncated || s.truncated[1] || s.requests != 2 {
		t.Errorf("after an edit: %+v, stored as %v: %v", results, s.truncated, err)
	}
}
