package memo

import (
	"testing"
	"time"
)

// However many projects are requested, the number of remembered versions is bounded and includes
// the last one.
func TestVersionsAreBounded(t *testing.T) {
	t.Parallel()
	v := versions{read: map[int64]reading{}}
	began := time.Now()
	for project := range int64(3 * maxVersions) {
		v.remember(project, reading{"v", began.Add(1)})
		if _, found := v.lately(project, began); !found || len(v.read) > maxVersions {
			t.Fatalf("project %d is remembered: %t; %d versions are remembered", project, found, len(v.read))
		}
	}
}
