package enrich

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tasklens/internal/chat"
)

// In no minute do more requests start than the setting allows, and under constant load nearly that
// many do.
func TestBucketKeepsToTheMinute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perMinute, concurrency := rapid.IntRange(1, 300).Draw(t, "per minute"), rapid.IntRange(1, 64).Draw(t, "concurrency")
		pause := rapid.IntRange(0, 90).Draw(t, "seconds before the first")
		bucket := newBucket(perMinute, concurrency)
		start := time.Unix(1_700_000_000, 0)
		bucket.AllowN(start, 0)
		var begun []time.Duration
		for at := time.Duration(pause) * time.Second; at < 4*time.Minute; at += 50 * time.Millisecond {
			for bucket.AllowN(start.Add(at), 1) {
				begun = append(begun, at)
			}
		}
		for i := range begun {
			if last := i + perMinute; last < len(begun) && begun[last]-begun[i] < time.Minute {
				t.Fatalf("%d requests began within %v: the bucket has %d, then %v a second", perMinute+1, begun[last]-begun[i], bucket.Burst(), bucket.Limit())
			}
		}
		if least := perMinute * (150 - 50) / 60 / 2; len(begun) < least {
			t.Fatalf("only %d requests began in over two minutes of %d a minute", len(begun), perMinute)
		}
	})
}

// A batch without a token releases its documents and ends.
func TestBatchKeepsToTheBucket(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a", "b", "c")
	m := &model{say: func(context.Context, string, string) (chat.Completion, error) { return answered(plain) }}
	e := New(m, Options{PerMinute: 1})
	if got := s.batch(e, 3); got.Processed != 1 || got.Succeeded != 1 {
		t.Errorf("with a single token: %+v", got)
	}
	s.want("1", "select count(enriched_at) + sum(j.attempts) || '' from "+jobs)
	if got := s.batch(e, 3); got.Processed != 0 {
		t.Errorf("with none: %+v", got)
	}
	s.want("1", "select count(enriched_at) + sum(j.attempts) || '' from "+jobs)
}

// A batch uses all its slots, never more.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	s := newShelf(t, titles(12)...)
	const most = 3
	var now, highest atomic.Int32
	full := make(chan struct{})
	m := &model{say: func(ctx context.Context, _, _ string) (chat.Completion, error) {
		defer now.Add(-1)
		if n := now.Add(1); n > highest.Load() {
			highest.Store(n)
			if n == most {
				close(full)
			}
		}
		select {
		case <-full: // all slots were in use at once
		case <-ctx.Done():
		}
		return answered(plain)
	}}
	if got := s.batch(New(m, Options{Concurrency: most}), 12); highest.Load() != most || got.Succeeded != 12 {
		t.Errorf("%d at a time, %+v", highest.Load(), got)
	}
}

func titles(n int) (titles []string) {
	for i := range n {
		titles = append(titles, "document "+strconv.Itoa(i))
	}
	return titles
}
