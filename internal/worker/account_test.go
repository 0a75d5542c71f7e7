package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/worker"
)

// While the provider's account is empty, or it refuses the key, jobs wait without using up
// attempts, and the status says why. They go on by themselves.
func TestEmptyAccountUsesUpNoAttempts(t *testing.T) {
	t.Parallel()
	for reason, code := range map[fault.Reason]fault.Code{fault.ModelQuota: fault.Unavailable, fault.ModelKey: fault.Provider} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.fill(8)
			var asked, isFilled atomic.Int64
			b.model.before = func(context.Context, string, []string) error {
				if asked.Add(1); isFilled.Load() > 0 {
					return nil
				}
				failure := fault.Wrap(code, "It costs.", errors.New("pay first")).Because(reason)
				failure.RetryAfter = 10 * time.Millisecond
				return failure
			}
			options := quick(t)
			options.Attempts = 2
			b.start(options)
			for asked.Load() < 20 && b.number(deadJobs) == 0 {
				time.Sleep(time.Millisecond)
			}
			if used := b.number(`select coalesce(max(attempts - (lease_id is not null)::integer), 0) from tasklens.embedding_jobs`); used > 0 {
				t.Errorf("%d attempts are used up", used)
			}
			status, err := worker.ReadStatus(t.Context(), b.rows, "stand-in")
			if err != nil || status.BlockedBy != string(reason) || status.Dead+status.Failed > 0 || status.Pending+status.Running != 9 {
				t.Errorf("the status is %+v, %v", status, err)
			}
			isFilled.Store(1)
			b.await(0, openJobs)
			if status, err = worker.ReadStatus(t.Context(), b.rows, "stand-in"); err != nil || status.BlockedBy != "" || status.Dead > 0 || status.SourcesWithoutChunks > 0 {
				t.Errorf("afterwards the status is %+v, %v", status, err)
			}
		})
	}
}
