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
			"to the end":                {2 * time.Hour, time.Hour, time.Hour, nil},
			"nothing":                   {time.Hour, 0, 0, nil},
			"a time that is past":       {time.Hour, -time.Hour, 0, nil},
			"until nobody waits":        {time.Second, time.Hour, time.Second, context.DeadlineExceeded},
			"nobody waits":              {0, time.Hour, 0, context.DeadlineExceeded},
			"nobody waits, for no time": {0, 0, 0, context.DeadlineExceeded},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), c.within)
			began := time.Now()
			if err := wait.For(ctx, c.long); !errors.Is(err, c.err) || time.Since(began) != c.took {
				t.Errorf("%s: took %v and gave %v", name, time.Since(began), err)
			}
			cancel()
		}
	})
}
