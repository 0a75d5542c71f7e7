package rpc_test

import (
	"context"
	"encoding/json"
	"testing"

	"tasklens/internal/rpc"
)

// returning is a database whose functions return this.
type returning string

func (r returning) Call(_ context.Context, _ string, _, result any) error {
	return json.Unmarshal([]byte(r), result)
}

// One row is neither none nor two, and no rows are an empty list.
func TestRows(t *testing.T) {
	t.Parallel()
	for rows, count := range map[returning]int{`[]`: 0, `[5]`: 1, `[5,6]`: 2} {
		if one, err := rpc.One[int](t.Context(), rows, "f", nil); (err == nil) != (count == 1) || err == nil && one != 5 {
			t.Errorf("of %s one is %d, %v", rows, one, err)
		}
		if all, err := rpc.All[int](t.Context(), rows, "f", nil); err != nil || all == nil || len(all) != count {
			t.Errorf("of %s all are %v, %v", rows, all, err)
		}
	}
}
