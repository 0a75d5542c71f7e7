package memo_test

import (
	"context"
	"errors"
	"fmt"
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

func (m *model) Embed(_ context.Context, _ string, inputs []string) (vectors []vector.Vector, tokens int, err error) {
	m.asked++
	for _, input := range inputs {
		v := make(vector.Vector, vector.Dimensions)
		v[len(input)] = -1.25e-30
		vectors = append(vectors, v)
	}
	return vectors, len(inputs), m.failure
}

// An embedding that has arrived is returned after the deadline: the model did not take the time.
func TestAnArrivedEmbeddingIsNotLate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	refused := errors.New("refused")
	for range 100 {
		if _, err := memo.Failed("model", refused).Vector(ctx); err != refused {
			t.Fatal(err)
		}
	}
}

func TestQueriesAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	m, kept := &model{}, &store{}
	e := memo.NewEmbeddings(m, "here", kept)
	embed := func(e *memo.Embeddings, asked int, name, input string) {
		t.Helper()
		pending := e.Begin(t.Context(), name, input)
		defer pending.GiveUp()
		got, err := pending.Vector(t.Context())
		want := make(vector.Vector, vector.Dimensions)
		want[len(input)] = -1.25e-30
		if err != nil || !slices.Equal(got, want) || pending.Model() != name {
			t.Errorf("the embedding of %q is %v by model %q, %v", input, got[:min(20, len(got))], pending.Model(), err)
		}
		if m.asked != asked {
			t.Errorf("%q: the model was called %d times, want %d", input, m.asked, asked)
		}
	}
	embed(e, 1, "m", "a")
	embed(e, 1, "m", "a")
	embed(e, 2, "m", "ab")
	if counts := e.Counts(); counts != (memo.Counts{Hits: 1, Misses: 2}) {
		t.Errorf("the counts are %+v", counts)
	}
	embed(memo.NewEmbeddings(m, "elsewhere", kept), 3, "m", "a")
	embed(e, 4, "n", "a")
	for key := range kept.values {
		kept.values[key] = kept.values[key][1:]
	}
	embed(e, 5, "m", "a")
	without := memo.NewEmbeddings(m, "here", nil)
	embed(without, 6, "m", "a")
	embed(without, 7, "m", "a")
	if without.Begin(t.Context(), "m", "a"); m.asked != 7 {
		t.Error("without a store an embedding was computed before Vector was called")
	}
}

func TestFailedEmbeddingIsNotCached(t *testing.T) {
	t.Parallel()
	m, kept := &model{failure: errors.New("down")}, &store{}
	if _, err := memo.NewEmbeddings(m, "", kept).Begin(t.Context(), "m", "a").Vector(t.Context()); !errors.Is(err, m.failure) || kept.size() != 0 {
		t.Errorf("the error is %v, %d embeddings are cached", err, kept.size())
	}
}

// A failed embedding returns its error to every waiter with time left, and can be abandoned like
// any other.
func TestFailedEmbedding(t *testing.T) {
	t.Parallel()
	unknown := errors.New("unknown")
	failed := memo.Failed("m", unknown)
	defer failed.GiveUp()
	if _, err := failed.Vector(t.Context()); !errors.Is(err, unknown) || failed.Model() != "m" {
		t.Errorf("model %q: the error is %v", failed.Model(), err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for range 100 { // select picks either ready channel
		if _, err := failed.Vector(late); err == nil {
			t.Fatal("a failed embedding was returned")
		}
	}
}

// An embedding that was started early calls the model once, whatever its outcome.
func TestEmbeddingStartedEarly(t *testing.T) {
	t.Parallel()
	m := &model{}
	e := memo.NewEmbeddings(m, "", &store{})
	for _, failure := range []error{nil, errors.New("down")} {
		*m = model{failure: failure}
		pending := e.Begin(t.Context(), "m", fmt.Sprint(failure))
		for range 2 {
			if _, err := pending.Vector(t.Context()); !errors.Is(err, failure) || m.asked != 1 {
				t.Errorf("the model was called %d times, %v", m.asked, err)
			}
		}
		pending.GiveUp()
	}
}

// hanging is a model that responds when it is released.
type hanging struct {
	model
	let chan struct{}
}

func (h *hanging) Embed(ctx context.Context, name string, inputs []string) ([]vector.Vector, int, error) {
	select {
	case <-h.let:
		return h.model.Embed(ctx, name, inputs)
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}

// The request that started an embedding may leave: other waiters still get the result, within their
// own deadlines.
func TestAbandonedEmbedding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{let: make(chan struct{})}
		e := memo.NewEmbeddings(h, "", &store{})
		pending := e.Begin(t.Context(), "m", "a")
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := pending.Vector(hurried); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("the error is %v", err)
		}
		pending.GiveUp()
		synctest.Wait()
		close(h.let)
		if _, err := pending.Vector(t.Context()); err != nil || h.asked != 1 {
			t.Errorf("the model was called %d times, %v", h.asked, err)
		}
	})
}

// fragile is a model that panics.
type fragile struct{}

func (fragile) Embed(context.Context, string, []string) ([]vector.Vector, int, error) {
	panic("broken")
}

// fragileStore is a store that panics.
type fragileStore struct{ store }

func (*fragileStore) Get(context.Context, string) ([]byte, bool) { panic("broken") }

// A panic fails every request that waits for the embedding.
func TestPanicDuringEmbedding(t *testing.T) {
	t.Parallel()
	for _, e := range []*memo.Embeddings{memo.NewEmbeddings(fragile{}, "", &store{}), memo.NewEmbeddings(&model{}, "", &fragileStore{})} {
		pending := e.Begin(t.Context(), "m", "a")
		if _, err := pending.Vector(t.Context()); fault.CodeOf(err) != fault.Internal {
			t.Errorf("the error is %v, want an internal error", err)
		}
		pending.GiveUp()
	}
}

// late requests an embedding with a budget, as searches do, and lets that budget pass.
func late(t *testing.T, e *memo.Embeddings, input string) {
	t.Helper()
	request, answered := context.WithTimeout(t.Context(), time.Minute)
	defer answered()
	pending := e.Begin(request, "m", input)
	defer pending.GiveUp()
	budget, cancel := context.WithTimeout(request, time.Second)
	defer cancel()
	started := time.Now()
	if _, err := pending.Vector(budget); fault.CodeOf(err) != fault.Timeout || time.Since(started) != time.Second {
		t.Errorf("after %v the error is %v", time.Since(started), err)
	}
}

// An embedding that arrives after its request's budget is cached for the next request; requests
// meanwhile wait for the same call.
func TestALateEmbeddingIsCached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, kept := &hanging{let: make(chan struct{})}, &store{}
		e := memo.NewEmbeddings(h, "", kept)
		late(t, e, "a")
		late(t, e, "a")
		// Also after the request gave it up.
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		given := e.Begin(t.Context(), "m", "a")
		given.GiveUp()
		synctest.Wait()
		if _, err := given.Vector(hurried); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("the error is %v", err)
		}
		// A cancelled request does not take it away either.
		cancelled, leave := context.WithCancel(t.Context())
		pending := e.Begin(cancelled, "m", "a")
		synctest.Wait()
		leave()
		if _, err := pending.Vector(cancelled); err == nil {
			t.Error("a cancelled request got an embedding")
		}
		synctest.Wait()
		close(h.let)
		synctest.Wait()
		if kept.size() != 1 || h.asked != 1 {
			t.Errorf("%d embeddings are cached, the model was called %d times", kept.size(), h.asked)
		}
		if _, err := e.Begin(t.Context(), "m", "a").Vector(t.Context()); err != nil || h.asked != 1 {
			t.Errorf("the model was called %d times, %v", h.asked, err)
		}
	})
}

// watched is a model that hangs, with the number of calls that wait for it.
type watched struct {
	waiting atomic.Int64
}

func (w *watched) Embed(ctx context.Context, _ string, _ []string) ([]vector.Vector, int, error) {
	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

// Late embeddings are bounded in number and in time, and Close ends them.
func TestLateEmbeddingsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		e := memo.NewEmbeddings(w, "", &store{})
		for i := range 100 { // one per second
			late(t, e, strings.Repeat("a", i+1))
			synctest.Wait()
			if n := w.waiting.Load(); n != min(int64(i+1), 29) { // each ends after 30 seconds
				t.Errorf("after %d searches %d embeddings are pending", i+1, n)
			}
		}
		time.Sleep(30 * time.Second)
		var searches sync.WaitGroup
		for i := range 100 { // concurrently
			searches.Go(func() { late(t, e, strings.Repeat("b", i+1)) })
		}
		searches.Wait()
		synctest.Wait()
		if n := w.waiting.Load(); n != 64 {
			t.Errorf("%d late embeddings are pending, want 64", n)
		}
		e.Close()
		synctest.Wait()
		if n := w.waiting.Load(); n != 0 {
			t.Errorf("after closing %d late embeddings are pending", n)
		}
		late(t, e, "c")
		synctest.Wait()
		if n := w.waiting.Load(); n != 1 {
			t.Errorf("after the limit was freed %d late embeddings are pending, want 1", n)
		}
		e.Close()
	})
}

// A request that is cancelled before its budget ends leaves no call behind.
func TestCancelledRequestEndsItsEmbedding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		e := memo.NewEmbeddings(w, "", &store{})
		pending := e.Begin(t.Context(), "m", "a")
		cancelled, leave := context.WithCancel(t.Context())
		e.Begin(cancelled, "m", "b")
		synctest.Wait()
		if n := w.waiting.Load(); n != 2 {
			t.Fatalf("%d embeddings are pending, want 2", n)
		}
		pending.GiveUp()
		leave()
		synctest.Wait()
		if n := w.waiting.Load(); n != 0 {
			t.Errorf("after cancellation %d embeddings are pending", n)
		}
	})
}
