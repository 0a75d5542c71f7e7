package memo_test

import (
	"context"
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

// model embeds each text by its length.
type model struct {
	asked   int
	failure error
}

func (m *model) Embed(_ context.Context, _ string, inputs []string) (vectors []vector.Vector, cut []int, err error) {
	m.asked++
	for _, input := range inputs {
		v := make(vector.Vector, vector.Dimensions)
		v[len(input)] = -1.25e-30
		vectors = append(vectors, v)
	}
	return vectors, nil, m.failure
}

// newEmbeddings returns embeddings with a store of their own.
func newEmbeddings(t *testing.T, m memo.Embedder) *memo.Embeddings {
	return memo.NewEmbeddings(m, memo.Store(t), (&tally{}).count)
}

func TestQueriesAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	m, counts := &model{}, &tally{}
	e := memo.NewEmbeddings(m, memo.Store(t), counts.count)
	embed := func(e *memo.Embeddings, asked int, name, input string) {
		t.Helper()
		query := e.Query(name, input)
		got, err := query.Vector(t.Context())
		want := make(vector.Vector, vector.Dimensions)
		want[len(input)] = -1.25e-30
		if err != nil || !slices.Equal(got, want) || query.Model() != name {
			t.Errorf("the embedding of %q is %v by model %q, %v", input, got[:min(20, len(got))], query.Model(), err)
		}
		if m.asked != asked {
			t.Errorf("%q: the model was called %d times, want %d", input, m.asked, asked)
		}
	}
	embed(e, 1, "m", "a")
	embed(e, 1, "m", "a")
	embed(e, 2, "m", "ab")
	counts.expect(t, map[memo.Origin]int{memo.Hit: 1, memo.Stored: 2})
	embed(e, 3, "n", "a")
	without := memo.NewEmbeddings(m, nil, nil)
	embed(without, 4, "m", "a")
	embed(without, 5, "m", "a")
}

// hanging is a model that responds when it is released.
type hanging struct {
	model
	let chan struct{}
}

func (h *hanging) Embed(ctx context.Context, name string, inputs []string) ([]vector.Vector, []int, error) {
	select {
	case <-h.let:
		return h.model.Embed(ctx, name, inputs)
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// fragile is a model that panics.
type fragile struct{}

func (fragile) Embed(context.Context, string, []string) ([]vector.Vector, []int, error) {
	panic("broken")
}

// A panic fails every request that waits for the embedding.
func TestPanicDuringEmbedding(t *testing.T) {
	t.Parallel()
	if _, err := newEmbeddings(t, fragile{}).Query("m", "a").Vector(t.Context()); fault.CodeOf(err) != fault.Internal {
		t.Errorf("the error is %v, want an internal error", err)
	}
}

// late requests an embedding with a budget, as searches do, and lets that budget pass.
func late(t *testing.T, e *memo.Embeddings, input string) {
	t.Helper()
	budget, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	started := time.Now()
	if _, err := e.Query("m", input).Vector(budget); fault.CodeOf(err) != fault.Timeout || time.Since(started) != time.Second {
		t.Errorf("after %v the error is %v", time.Since(started), err)
	}
}

// An embedding that arrives after its request's budget is cached for the next request; requests
// meanwhile wait for the same call.
func TestALateEmbeddingIsCached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{let: make(chan struct{})}
		e := newEmbeddings(t, h)
		late(t, e, "a")
		late(t, e, "a")
		cancelled, leave := context.WithCancel(t.Context())
		leave()
		if _, err := e.Query("m", "a").Vector(cancelled); err == nil {
			t.Error("a cancelled request got an embedding")
		}
		close(h.let)
		synctest.Wait()
		if _, err := e.Query("m", "a").Vector(t.Context()); err != nil || h.asked != 1 {
			t.Errorf("the model was called %d times, %v", h.asked, err)
		}
	})
}

// watched is a model that hangs, with the number of calls that wait for it.
type watched struct {
	waiting atomic.Int64
}

func (w *watched) Embed(ctx context.Context, _ string, _ []string) ([]vector.Vector, []int, error) {
	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// Embeddings that nobody waits for are bounded in number and in time.
func TestLateEmbeddingsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		e := newEmbeddings(t, w)
		for i := range 100 { // one per second
			late(t, e, strings.Repeat("a", i+1))
			synctest.Wait()
			if n := w.waiting.Load(); n != min(int64(i+1), 29) { // each ends after 30 seconds
				t.Errorf("after %d searches %d embeddings are pending", i+1, n)
			}
		}
		time.Sleep(30 * time.Second)
		var searches sync.WaitGroup
		for i := range 300 { // concurrently
			searches.Go(func() { late(t, e, strings.Repeat("b", i+1)) })
		}
		searches.Wait()
		synctest.Wait()
		if n := w.waiting.Load(); n != 256 {
			t.Errorf("%d embeddings are pending, want 256", n)
		}
		time.Sleep(30 * time.Second)
		if n := w.waiting.Load(); n != 0 {
			t.Errorf("after 30 s %d embeddings are pending", n)
		}
	})
}
