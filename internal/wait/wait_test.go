package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/wait"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			within, long, took time.Duration
			err                error
		}{
			"wait within the deadline":      {2 * time.Hour, time.Hour, time.Hour, nil},
			"zero wait":                     {time.Hour, 0, 0, nil},
			"negative wait":                 {time.Hour, -time.Hour, 0, nil},
			"wait beyond the deadline":      {time.Second, time.Hour, time.Second, context.DeadlineExceeded},
			"expired context":               {0, time.Hour, 0, context.DeadlineExceeded},
			"expired context and zero wait": {0, 0, 0, context.DeadlineExceeded},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), c.within)
			began := time.Now()
			if err := wait.For(ctx, c.long); !errors.Is(err, c.err) || time.Since(began) != c.took {
				t.Errorf("%s: returned after %v with %v", name, time.Since(began), err)
			}
			cancel()
		}
	})
}
