package memo_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"tasklens/internal/memo"
)

// Everything that a result depends on is part of its key, with lengths, so that keys cannot
// collide.
func TestCacheKeys(t *testing.T) {
	t.Parallel()
	requests := []memo.Request{
		{}, {Kind: "a"}, {Identity: "a"}, {Identity: "b"}, {Subject: "a"}, {Subject: "b"}, {Kind: "a", Identity: "b"}, {Kind: "ab"}, {Identity: "ab"},
		{Subject: []any{"a", "b"}}, {Subject: []any{"ab"}}, {Subject: `["ab"]`}, {Subject: 1}, {Subject: "1"}, {Subject: 1.0000000000000002}, {Subject: map[string]any{"a": nil}},
	}
	b := newBed(t)
	for i, request := range requests {
		b.expect(request, fmt.Sprint("result ", i+1), memo.Stored)
	}
	for i, request := range requests {
		b.expect(request, fmt.Sprintf("result %d again", i+1), memo.Hit)
	}
	other := newBed(t, func(o *memo.Options) { o.Store, o.Settings = b.store, "t" })
	other.expect(memo.Request{}, "result 1", memo.Stored)
	for key := range b.store.values {
		if !regexp.MustCompile(`^tasklens:result:[0-9a-f]{64}$`).MatchString(key) {
			t.Errorf("the cache key is %q", key)
		}
	}
}

// Of two days a result serves both, unless it is dated.
func TestDatedResults(t *testing.T) {
	t.Parallel()
	for isDated, next := range map[bool]memo.Origin{false: memo.Hit, true: memo.Stored} {
		b := newBed(t)
		on := func(day string) memo.Origin {
			_, origin, err := b.Do(t.Context(), b.db, memo.Request{Day: day}, func(ctx context.Context) (memo.Made, error) {
				made, err := b.work(ctx)
				made.Dated = isDated
				return made, err
			})
			if err != nil {
				t.Error(err)
			}
			return origin
		}
		if got := []memo.Origin{on("1"), on("1"), on("2"), on("2"), on("1")}; !slices.Equal(got, []memo.Origin{memo.Stored, memo.Hit, next, memo.Hit, memo.Hit}) {
			t.Errorf("dated %t: the origins are %v", isDated, got)
		}
	}
}

func TestEditsInvalidate(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one, all := memo.Request{Project: project(1)}, memo.Request{Kind: "all"}
	b.expect(one, "result 1", memo.Stored)
	b.expect(all, "result 2", memo.Stored)
	b.db.set(0, "moved")
	b.expect(one, "result 1 again", memo.Hit)
	b.expect(all, "result 3", memo.Stored)
	b.db.set(1, "moved")
	b.expect(one, "result 4", memo.Stored)
	b.expect(all, "result 3 again", memo.Hit)
}

// The version is read before the computation: a result that an edit overtakes is not found
// afterwards.
func TestEditDuringAComputation(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	_, _, err := b.Do(t.Context(), b.db, memo.Request{}, func(ctx context.Context) (memo.Made, error) {
		made, err := b.work(ctx)
		b.db.set(0, "moved")
		return made, err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.expect(memo.Request{}, "result 2", memo.Stored)
}

func TestUncachedOutcomes(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	failure := errors.New("down")
	_, _, err := b.Do(t.Context(), b.db, memo.Request{}, func(context.Context) (memo.Made, error) {
		return memo.Made{Keep: []byte("half")}, failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("the error is %v, want the computation's", err)
	}
	made, origin, err := b.Do(t.Context(), b.db, memo.Request{}, func(context.Context) (memo.Made, error) {
		return memo.Made{Body: []byte("degraded")}, nil
	})
	if err != nil || string(made.Body) != "degraded" || origin != memo.Passed {
		t.Errorf("the degraded result is %q with origin %v, %v", made.Body, origin, err)
	}
	if kept := b.store.size(); kept != 0 {
		t.Errorf("%d results are cached, want none", kept)
	}
	b.expect(memo.Request{}, "result 1", memo.Stored)
}

func TestVersionCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.expect(memo.Request{}, "result 1", memo.Stored)
	b.db.failure = errors.New("down")
	b.expect(memo.Request{}, "result 2", memo.Passed)
	if len(b.warned) != 1 || b.store.size() != 1 {
		t.Errorf("the warnings are %q, %d results are cached", b.warned, b.store.size())
	}
	// If the computation fails too, its own error is returned.
	own := errors.New("the database is down")
	_, _, err := b.Do(t.Context(), b.db, memo.Request{}, func(context.Context) (memo.Made, error) { return memo.Made{}, own })
	if !errors.Is(err, own) || len(b.warned) != 1 {
		t.Errorf("the error is %v, the warnings are %q", err, b.warned)
	}
}

func TestCachingTurnedOff(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Memo = nil
	b.expect(memo.Request{}, "result 1", memo.Off)
	b.expect(memo.Request{}, "result 2", memo.Off)
	if b.db.asked != 0 {
		t.Errorf("the version was read %d times, want never", b.db.asked)
	}
}
