package memo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// fragile is a model that panics, when it is asked or when its name is.
type fragile struct{ nameless bool }

func (f fragile) EmbeddingModel(context.Context) string {
	if f.nameless {
		panic("broken")
	}
	return ""
}

func (f fragile) Embed(context.Context, []string) ([]vector.Vector, int, error) { panic("broken") }

// A panic fails every request that waits for the embedding.
func TestAPanicOfTheModel(t *testing.T) {
	t.Parallel()
	for _, model := range []fragile{{nameless: true}, {}} {
		e := memo.NewEmbeddings(model, "", &store{})
		ctx, giveUp := e.Begin(t.Context(), "a")
		if _, _, err := e.Embed(ctx, []string{"a"}); fault.CodeOf(err) != fault.Internal {
			t.Errorf("%+v: the error is %v", model, err)
		}
		giveUp()
	}
}

// late has an embedding asked for, by a request with a budget as searches have it, and lets the time of that pass.
func late(t *testing.T, e *memo.Embeddings, input string) {
	t.Helper()
	request, answered := context.WithTimeout(t.Context(), time.Minute)
	defer answered()
	begun, giveUp := e.Begin(request, input)
	defer giveUp()
	budget, cancel := context.WithTimeout(begun, time.Second)
	defer cancel()
	started := time.Now()
	if _, _, err := e.Embed(budget, []string{input}); fault.CodeOf(err) != fault.Timeout || time.Since(started) != time.Second {
		t.Errorf("after %v the error is %v", time.Since(started), err)
	}
}

// An embedding that comes after its request's budget is there for the next request; who asks meanwhile waits for the same.
func TestALateEmbeddingIsCached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, kept := &hanging{let: make(chan struct{})}, &store{}
		e := memo.NewEmbeddings(h, "", kept)
		late(t, e, "a")
		late(t, e, "a")
		// Without having begun it early, too.
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := e.Embed(hurried, []string{"a"}); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("the error is %v", err)
		}
		// Somebody who is cancelled takes nothing from it either.
		cancelled, leave := context.WithCancel(t.Context())
		begun, _ := e.Begin(cancelled, "a")
		synctest.Wait()
		leave()
		if _, _, err := e.Embed(begun, []string{"a"}); err == nil {
			t.Error("who was cancelled got an embedding")
		}
		synctest.Wait()
		close(h.let)
		synctest.Wait()
		if kept.size() != 1 || h.asked != 1 {
			t.Errorf("%d are kept, the model was asked %d times", kept.size(), h.asked)
		}
		if _, _, err := e.Embed(t.Context(), []string{"a"}); err != nil || h.asked != 1 {
			t.Errorf("the model was asked %d times, %v", h.asked, err)
		}
	})
}

// watched is a model that hangs, and how many wait for it.
type watched struct {
	model
	waiting atomic.Int64
}

func (w *watched) Embed(ctx context.Context, _ []string) ([]vector.Vector, int, error) {
	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

// Late embeddings are bounded in number and in time, and closing ends them.
func TestLateEmbeddingsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		e := memo.NewEmbeddings(w, "", &store{})
		for i := range 100 { // a second each
			late(t, e, strings.Repeat("a", i+1))
			synctest.Wait()
			if n := w.waiting.Load(); n != min(int64(i+1), 29) { // each ends after 30 seconds
				t.Errorf("after %d searches %d embeddings are under way", i+1, n)
			}
		}
		time.Sleep(30 * time.Second)
		var searches sync.WaitGroup
		for i := range 100 { // at once
			searches.Go(func() { late(t, e, strings.Repeat("b", i+1)) })
		}
		searches.Wait()
		synctest.Wait()
		if n := w.waiting.Load(); n != 64 {
			t.Errorf("%d embeddings are late", n)
		}
		e.Close()
		synctest.Wait()
		if n := w.waiting.Load(); n != 0 {
			t.Errorf("after closing %d embeddings are late", n)
		}
		late(t, e, "c")
		synctest.Wait()
		if n := w.waiting.Load(); n != 1 {
			t.Errorf("after the places are free again %d embeddings are late", n)
		}
		e.Close()
	})
}

// Who is cancelled, and did not run out of time, leaves nothing behind.
func TestACancelledEmbeddingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		e := memo.NewEmbeddings(w, "", &store{})
		_, giveUp := e.Begin(t.Context(), "a")
		cancelled, leave := context.WithCancel(t.Context())
		go func() { _, _, _ = e.Embed(cancelled, []string{"b"}) }()
		synctest.Wait()
		if n := w.waiting.Load(); n != 2 {
			t.Fatalf("%d embeddings are under way", n)
		}
		giveUp()
		leave()
		synctest.Wait()
		if n := w.waiting.Load(); n != 0 {
			t.Errorf("%d embeddings are under way", n)
		}
	})
}
