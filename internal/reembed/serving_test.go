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

// readingTime is how long the database below takes to respond.
const readingTime = 30 * time.Millisecond

// sets is a database that returns only the name of the serving model.
type sets struct {
	mutex sync.Mutex
	model string
	fails bool
	takes time.Duration // of a response; 0: readingTime
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
	*result.(*[]reembed.Sets) = []reembed.Sets{{Model: model}}
	return nil
}

func (s *sets) set(model string, fails bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.model, s.fails = model, fails
}

// used reads which model serves, and how long that took.
func used(t *testing.T, serving *reembed.Serving) (model string, took time.Duration) {
	begun := time.Now()
	model, err := serving.Use(t.Context())
	if err != nil {
		t.Error(err)
	}
	return model, time.Since(begun)
}

func TestServing(t *testing.T) {
	t.Run("frequent callers wait once", func(t *testing.T) {
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
	t.Run("callers during a slow read wait if the last value is too old", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{model: "one", takes: 700 * time.Millisecond}
			serving := reembed.NewServing(db, "configured")
			used(t, serving) // there is a value, read just now
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
	t.Run("a cancelled caller stops waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db := &sets{takes: time.Minute}
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer leave()
			begun := time.Now()
			_, err := reembed.NewServing(db, "configured").Use(ctx)
			if took := time.Since(begun); took != 50*time.Millisecond || fault.CodeOf(err) != fault.Timeout {
				t.Errorf("the query waited %v, want 50 ms: %v", took, err)
			}
			time.Sleep(time.Minute) // until the read has ended
		})
	})
	t.Run("a caller content with the last value waits only for the first read", func(t *testing.T) {
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
	t.Run("concurrent callers share one read", func(t *testing.T) {
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
	t.Run("before the first success there is no value, and failures are not retried by every query", func(t *testing.T) {
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
			time.Sleep(time.Second / 2) // it may be read again
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
	t.Run("a failure keeps the last value, and is not retried by every query", func(t *testing.T) {
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

// A set without a model uses the configured one; a fixed model needs no read.
func TestConfiguredModelServes(t *testing.T) {
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

// fragile is a database client that panics.
type fragile struct{}

func (fragile) Call(context.Context, string, any, any) error { panic("broken") }

// A panic counts as a failed read, and does not end a waiter.
func TestServingSurvivesAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		serving := reembed.NewServing(fragile{}, "configured")
		if model, err := serving.Use(t.Context()); model != "" || !errors.Is(err, reembed.ErrUnknown) {
			t.Errorf("the model is %q, the error is %v", model, err)
		}
	})
}
