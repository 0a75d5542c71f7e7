package cache

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Run runs a Lua script that returns numbers, with its own keys. Its result, unlike a cached value,
// cannot be recomputed, so Run returns an error if Redis fails or failed a moment ago.
func (r *Redis) Run(ctx context.Context, script string, keys []string, arguments ...any) (numbers []int64, err error) {
	err = r.do(ctx, func(ctx context.Context) (err error) {
		numbers, err = redis.NewScript(script).Run(ctx, r.client, keys, arguments...).Int64Slice()
		return err
	})
	return numbers, err
}
