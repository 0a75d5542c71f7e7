package memo

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxVersions bounds the cached versions: callers choose the project ids.
const maxVersions = 1000

// versions are the recently read versions by project; 0 is the version of everything.
type versions struct {
	mutex sync.Mutex
	read  map[int64]reading
}

type reading struct {
	version string
	asked   time.Time // when the read began
}

// version returns the version of the data that a request depends on, as of now or, if stale is
// true, at most MaxStale ago.
func (m *Memo) version(ctx context.Context, db Database, request Request) (_ string, stale bool, _ error) {
	project := int64(0)
	if request.Project != nil {
		project = *request.Project
	}
	asked, remembers := time.Now(), m.options.MaxStale > 0 && !request.Watched
	if version, found := m.versions.lately(project, asked.Add(-m.options.MaxStale)); found && remembers {
		return version, true, nil
	}
	var version string
	if err := db.Call(ctx, "data_version", map[string]any{"project_filter": request.Project}, &version); err != nil {
		return "", false, fmt.Errorf("read the data's version: %w", err)
	}
	if remembers {
		m.versions.remember(project, reading{version, asked})
	}
	return version, false, nil
}

func (v *versions) lately(project int64, since time.Time) (string, bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	last, found := v.read[project]
	return last.version, found && last.asked.After(since)
}

// remember keeps the reading that began last: one overtaken on its way is older.
func (v *versions) remember(project int64, r reading) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if len(v.read) >= maxVersions {
		clear(v.read)
	}
	if last, found := v.read[project]; !found || last.asked.Before(r.asked) {
		v.read[project] = r
	}
}
