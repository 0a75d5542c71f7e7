package memo_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/memo"
	"tasklens/internal/vector"
)

// model embeds a text by its length.
type model struct {
	name    string
	asked   int
	failure error
}

func (m *model) EmbeddingModel(context.Context) string { return m.name }

func (m *model) Embed(_ context.Context, inputs []string) (vectors []vector.Vector, tokens int, err error) {
	m.asked++
	for _, input := range inputs {
		v := make(vector.Vector, vector.Dimensions)
		v[len(input)] = -1.25e-30
		vectors = append(vectors, v)
	}
	return vectors, len(inputs), m.failure
}

func TestQueriesAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	m, kept := &model{name: "m"}, &store{}
	e := memo.NewEmbeddings(m, "here", kept)
	embed := func(e *memo.Embeddings, asked int, inputs ...string) {
		t.Helper()
		vectors, _, err := e.Embed(t.Context(), inputs)
		if err != nil || len(vectors) != len(inputs) {
			t.Fatalf("%q: %d vectors, %v", inputs, len(vectors), err)
		}
		for i, v := range vectors {
			want := make(vector.Vector, vector.Dimensions)
			want[len(inputs[i])] = -1.25e-30
			if !slices.Equal(v, want) {
				t.Errorf("%q became %v", inputs[i], v[:20])
			}
		}
		if m.asked != asked {
			t.Errorf("%q: the model was asked %d times, want %d", inputs, m.asked, asked)
		}
	}
	embed(e, 1, "a")
	embed(e, 1, "a")
	embed(e, 2, "ab")
	embed(e, 3, "a", "ab")
	if counts := e.Counts(); counts != (memo.Counts{Hits: 1, Misses: 2}) {
		t.Errorf("counted were %+v", counts)
	}
	embed(memo.NewEmbeddings(m, "elsewhere", kept), 4, "a")
	m.name = "n"
	embed(e, 5, "a")
	for key := range kept.values {
		kept.values[key] = kept.values[key][1:]
	}
	embed(e, 6, "a")
	if e.EmbeddingModel(t.Context()) != "n" {
		t.Errorf("the model is %q", e.EmbeddingModel(t.Context()))
	}
}

func TestAFailedEmbeddingIsNotKept(t *testing.T) {
	t.Parallel()
	m, kept := &model{failure: errors.New("down")}, &store{}
	if _, _, err := memo.NewEmbeddings(m, "", kept).Embed(t.Context(), []string{"a"}); !errors.Is(err, m.failure) || kept.size() != 0 {
		t.Errorf("the error is %v, %d are kept", err, kept.size())
	}
}

// What is begun early is asked of the model once, whatever comes of it.
func TestAnEmbeddingThatWasBegun(t *testing.T) {
	t.Parallel()
	m := &model{}
	e := memo.NewEmbeddings(m, "", &store{})
	begun, giveUp := e.Begin(t.Context(), "a")
	if _, _, err := e.Embed(begun, []string{"a"}); err != nil || m.asked != 1 {
		t.Errorf("the model was asked %d times, %v", m.asked, err)
	}
	giveUp()
	if _, _, err := e.Embed(begun, []string{"other"}); err != nil || m.asked != 2 {
		t.Errorf("for another the model was asked %d times, %v", m.asked, err)
	}
	m.failure = errors.New("down")
	failing, giveUp := e.Begin(t.Context(), "abc")
	defer giveUp()
	for range 2 {
		if _, _, err := e.Embed(failing, []string{"abc"}); !errors.Is(err, m.failure) || m.asked != 3 {
			t.Errorf("the model was asked %d times, %v", m.asked, err)
		}
	}
}

// hanging is a model that answers when it is let.
type hanging struct {
	model
	let chan struct{}
}

func (h *hanging) Embed(ctx context.Context, inputs []string) ([]vector.Vector, int, error) {
	select {
	case <-h.let:
		return h.model.Embed(ctx, inputs)
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}

// Who began an embedding may leave: whoever waits for it gets it all the same, in their own time.
func TestAnEmbeddingThatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{let: make(chan struct{})}
		e := memo.NewEmbeddings(h, "", &store{})
		begun, giveUp := e.Begin(t.Context(), "a")
		hurried, cancel := context.WithTimeout(begun, time.Second)
		defer cancel()
		if _, _, err := e.Embed(hurried, []string{"a"}); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("the error is %v", err)
		}
		giveUp()
		synctest.Wait()
		close(h.let)
		if _, _, err := e.Embed(begun, []string{"a"}); err != nil || h.asked != 1 {
			t.Errorf("the model was asked %d times, %v", h.asked, err)
		}
	})
}
