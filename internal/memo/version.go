package memo

import (
	"context"
	"fmt"
)

// version returns the current version of the data that a request depends on.
func (m *Memo) version(ctx context.Context, db Database, request Request) (version string, _ error) {
	if err := db.Call(ctx, "data_version", map[string]any{"project_filter": request.Project}, &version); err != nil {
		return "", fmt.Errorf("read the data's version: %w", err)
	}
	return version, nil
}
