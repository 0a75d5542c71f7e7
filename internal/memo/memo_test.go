package memo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tasklens/internal/memo"
)

// Everything that a result depends on is part of its key, with lengths, so that keys cannot
// collide.
func TestCacheKeys(t *testing.T) {
	t.Parallel()
	requests := []memo.Request{
		{}, {Kind: "a"}, {Identity: "a"}, {Identity: "b"}, {Version: "a"}, {Version: "b"}, {Subject: "a"}, {Subject: "b"}, {Kind: "a", Identity: "b"}, {Kind: "ab"}, {Identity: "ab"},
		{Subject: []any{"a", "b"}}, {Subject: []any{"ab"}}, {Subject: `["ab"]`}, {Subject: 1}, {Subject: "1"}, {Subject: 1.0000000000000002}, {Subject: map[string]any{"a": nil}},
	}
	b := newBed(t)
	for i, request := range requests {
		b.expect(request, fmt.Sprint("result ", i+1), memo.Stored)
	}
	for i, request := range requests {
		b.expect(request, fmt.Sprintf("result %d again", i+1), memo.Hit)
	}
}

func TestUncachedOutcomes(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	failure := errors.New("down")
	_, err := b.Do(t.Context(), memo.Request{}, func(context.Context) (memo.Made, error) {
		return memo.Made{Keep: []byte("half")}, failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("the error is %v, want the computation's", err)
	}
	made, err := b.Do(t.Context(), memo.Request{}, func(context.Context) (memo.Made, error) {
		return memo.Made{Body: []byte("degraded")}, nil
	})
	if err != nil || string(made.Body) != "degraded" || made.Origin != memo.Passed {
		t.Errorf("the degraded result is %q with origin %v, %v", made.Body, made.Origin, err)
	}
	b.expect(memo.Request{}, "result 1", memo.Stored)
}

func TestCachingTurnedOff(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Memo = nil
	b.expect(memo.Request{}, "result 1", memo.Off)
	b.expect(memo.Request{}, "result 2", memo.Off)
}
