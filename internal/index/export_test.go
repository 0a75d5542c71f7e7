package index

import (
	"context"

	"tasklens/internal/rpc"
)

// All is Index of several sources.
func (x *Indexer) All(ctx context.Context, db rpc.Caller, ids []int64) (results []*Result, err error) {
	r := run{Indexer: x, db: db}
	results, err = r.index(ctx, ids)
	for i := 0; i < len(results) && err == nil; i++ {
		err = results[i].Err
	}
	return results, err
}
