package cache

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Run runs a script that returns numbers, on keys of its own. Unlike what is kept, what it counts can't be made anew: so it
// says where Redis fails, or failed a moment ago.
func (r *Redis) Run(ctx context.Context, script string, keys []string, arguments ...any) (numbers []int64, err error) {
	err = r.do(ctx, func(ctx context.Context) (err error) {
		numbers, err = redis.NewScript(script).Run(ctx, r.client, keys, arguments...).Int64Slice()
		return err
	})
	return numbers, err
}
