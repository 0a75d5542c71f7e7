package reembed_test

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/reembed"
)

// readingTime is the database's default response time.
const readingTime = 30 * time.Millisecond

// sets is a fake database that returns the name of the serving model.
type sets struct {
	mutex sync.Mutex
	model string
	fails bool
	takes time.Duration // response time; readingTime if 0
	asked int
}

func (s *sets) Call(_ context.Context, _ string, _, result any) error {
	s.mutex.Lock()
	model, fails := s.model, s.fails
	s.asked++
	s.mutex.Unlock()
	time.Sleep(cmp.Or(s.takes, readingTime))
	if fails {
		return errors.New("the database is down")
	}
	*result.(*[]reembed.Sets) = []reembed.Sets{{Model: &model}}
	return nil
}

func (s *sets) set(model string, fails bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.model, s.fails = model, fails
}

// used returns the serving model and the time that this took.
func used(t *testing.T, serving *reembed.Serving) (model string, took time.Duration) {
	begun := time.Now()
	model, err := serving.Use(t.Context())
	if err != nil {
		t.Error(err)
	}
	return model, time.Since(begun)
}

func TestServing(t *testing.T) {
	t.Run("only the first of frequent queries waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{model: "one"}
			serving := reembed.NewServing(db, "configured")
			changed := time.Time{}
			for i := range 1000 {
				if i == 470 {
					db.set("two", false)
					changed = time.Now()
				}
				model, took := used(t, serving)
				if i == 0 && took != readingTime || i > 0 && took != 0 {
					t.Errorf("query %d waited %v", i, took)
				}
				if i >= 470 && time.Since(changed) > time.Second && model != "two" {
					t.Errorf("query %d, %v after the change, used the model %q", i, time.Since(changed), model)
				}
				time.Sleep(10 * time.Millisecond)
			}
			synctest.Wait()
			if db.asked > 20 {
				t.Errorf("the database was queried %d times in 10 s, want at most 20", db.asked)
			}
		})
	})
	t.Run("a query waits for a slow response if the last one is too old", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{model: "one", takes: 700 * time.Millisecond}
			serving := reembed.NewServing(db, "configured")
			used(t, serving) // the first response is received now
			time.Sleep(600 * time.Millisecond)
			db.set("two", false)
			for _, want := range []struct {
				model string
				took  time.Duration
			}{{"one", 0}, {"one", 0}, {"two", 300 * time.Millisecond}, {"two", 0}} {
				if model, took := used(t, serving); model != want.model || took != want.took {
					t.Errorf("the model is %q after waiting %v, want %q after %v", model, took, want.model, want.took)
				}
				time.Sleep(200 * time.Millisecond)
			}
		})
	})
	t.Run("a cancelled query does not wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{takes: time.Minute}
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer leave()
			begun := time.Now()
			_, err := reembed.NewServing(db, "configured").Use(ctx)
			if took := time.Since(begun); took != 50*time.Millisecond || fault.CodeOf(err) != fault.Timeout {
				t.Errorf("the query waited %v, want 50 ms: %v", took, err)
			}
			time.Sleep(time.Minute) // until the call has ended
		})
	})
	t.Run("infrequent queries get the current model", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{}
			serving := reembed.NewServing(db, "configured")
			for _, want := range []string{"one", "two", "three"} {
				db.set(want, false)
				if model, _ := used(t, serving); model != want {
					t.Errorf("the model is %q, want %q", model, want)
				}
				time.Sleep(time.Second)
			}
		})
	})
	t.Run("Last waits only for the first response and does not query the database", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{model: "one"}
			serving := reembed.NewServing(db, "configured")
			for i := range 3 {
				begun := time.Now()
				model, _ := serving.Last(t.Context())
				if took := time.Since(begun); model != "one" || i == 0 && took != readingTime || i > 0 && took != 0 {
					t.Errorf("the model is %q after waiting %v", model, took)
				}
				db.set("two", false)
				time.Sleep(time.Minute)
			}
			if db.asked != 1 {
				t.Errorf("the database was queried %d times, want once", db.asked)
			}
			used(t, serving)
			if model, _ := serving.Last(t.Context()); model != "two" {
				t.Errorf("after Use by another caller the model is %q", model)
			}
		})
	})
	t.Run("concurrent queries share one call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{model: "one"}
			serving := reembed.NewServing(db, "configured")
			var running sync.WaitGroup
			for range 100 {
				running.Go(func() {
					if model, _ := used(t, serving); model != "one" {
						t.Errorf("the model is %q", model)
					}
				})
			}
			running.Wait()
			if db.asked != 1 {
				t.Errorf("the database was queried %d times, want once", db.asked)
			}
		})
	})
	t.Run("without a first response there is an error, and a failure is not retried by every query", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{fails: true}
			serving := reembed.NewServing(db, "configured")
			for i := range 10 {
				use := serving.Use
				if i%2 == 1 {
					use = serving.Last
				}
				if model, err := use(t.Context()); model != "" || !errors.Is(err, reembed.ErrUnknown) || fault.CodeOf(err) != fault.Unavailable {
					t.Errorf("the model is %q, the error is %v", model, err)
				}
			}
			if db.asked != 1 {
				t.Errorf("the database was queried %d times, want once", db.asked)
			}
			db.set("two", false)
			time.Sleep(time.Second / 2) // until a retry is allowed
			if model, took := used(t, serving); model != "two" || took != readingTime {
				t.Errorf("the model is %q after waiting %v", model, took)
			}
			db.set("three", true)
			time.Sleep(time.Minute)
			if model, err := serving.Last(t.Context()); model != "two" || err != nil {
				t.Errorf("the model is %q, the error is %v", model, err)
			}
		})
	})
	t.Run("after a failure the last model is returned, and not every query retries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{model: "one"}
			serving := reembed.NewServing(db, "configured")
			used(t, serving)
			db.set("two", true)
			time.Sleep(time.Second)
			for range 3 {
				if model, _ := used(t, serving); model != "one" {
					t.Errorf("the model is %q", model)
				}
			}
			if db.asked != 2 {
				t.Errorf("the database was queried %d times, want twice", db.asked)
			}
		})
	})
}

// A set without a model's name uses the configured one. Fixed queries no database.
func TestConfiguredModel(t *testing.T) {
	t.Parallel()
	unnamed := func(_ context.Context, result any) error {
		*result.(*[]reembed.Sets) = []reembed.Sets{{}}
		return nil
	}
	for name, serving := range map[string]*reembed.Serving{
		"configured": reembed.NewServing(calls(unnamed), "configured"),
		"fixed":      reembed.Fixed("fixed"),
	} {
		for _, ask := range []func(context.Context) (string, error){serving.Last, serving.Use} {
			if model, err := ask(t.Context()); model != name || err != nil {
				t.Errorf("the model is %q, %v; want %q", model, err, name)
			}
		}
	}
}

type calls func(ctx context.Context, result any) error

func (c calls) Call(ctx context.Context, _ string, _, result any) error { return c(ctx, result) }

// fragile is a database that panics.
type fragile struct{}

func (fragile) Call(context.Context, string, any, any) error { panic("broken") }

// A panic counts as a failed call and does not block the caller.
func TestServingPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		serving := reembed.NewServing(fragile{}, "configured")
		if model, err := serving.Use(t.Context()); model != "" || !errors.Is(err, reembed.ErrUnknown) {
			t.Errorf("the model is %q, the error is %v", model, err)
		}
	})
}
