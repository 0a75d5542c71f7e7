package search_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// hanging is a model that never responds.
type hanging struct{ model }

func (h *hanging) Embed(ctx context.Context, _ string, _ []string) ([]vector.Vector, []int, error) {
	_, err := h.Vector(ctx)
	return nil, nil, err
}

func (*hanging) Vector(ctx context.Context) (vector.Vector, error) {
	<-ctx.Done()
	return nil, fault.Wrap(fault.Timeout, "The model hangs.", ctx.Err())
}

// A model that hangs delays a hybrid search by its budget, which grows with the time that a request
// may take, and by half of the remaining time if that is less. Keyword search then answers, in one
// database call.
func TestHybridSearchWithAModelThatHangs(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]time.Duration{
		0: 1200 * time.Millisecond, 30 * time.Second: 1200 * time.Millisecond, 2 * time.Minute: 4800 * time.Millisecond, time.Second: 500 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			db := database(func(function string, arguments map[string]any, result any) error {
				calls++
				if function != "search_hybrid" || arguments["query_embedding"] != nil {
					t.Errorf("%s was called with %v", function, arguments)
				}
				return json.Unmarshal([]byte(`[{"source":"keyword","text":"The pumps leak."}]`), result)
			})
			ctx := t.Context()
			if left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, left)
				defer cancel()
			}
			started := time.Now()
			page, err := search.New(search.Weights{}, func(context.Context, string, error) {}).Hybrid(ctx, db, search.Query{Text: "pumps"}, &hanging{})
			if err != nil || !slices.Equal(page.Degraded, []string{"vector"}) || len(page.Hits) != 1 || calls != 1 {
				t.Errorf("timeout %v: the page is %+v, %v after %d calls, want one", left, page, err, calls)
			}
			if took := time.Since(started); took != want {
				t.Errorf("timeout %v: the search took %v, want %v", left, took, want)
			}
		})
	}
}

// A panic during a search is an internal error and does not end the process.
func TestAPanicWhileSearching(t *testing.T) {
	t.Parallel()
	broken := database(func(string, map[string]any, any) error { panic("broken") })
	if _, err := search.New(search.Weights{}, nil).Hybrid(t.Context(), broken, search.Query{Text: "pumps", Facets: true}, &model{}); fault.CodeOf(err) != fault.Internal {
		t.Errorf("the search returned %v, want an internal error", err)
	}
}

// If nothing can be found without the embedding, a model that hangs soon causes a timeout.
func TestModelHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		_, err := search.NewComparer(&hanging{}, &runes{}).ToDraft(t.Context(), database(nil), "m", search.Draft{Text: "It leaks", Limit: 5})
		if took := time.Since(started); fault.CodeOf(err) != fault.Timeout || took != 5*time.Second {
			t.Errorf("after %v the error is %v, want a timeout after 5 s", took, err)
		}
	})
}
