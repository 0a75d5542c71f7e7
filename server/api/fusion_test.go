package api_test

import (
	"testing"
)

// A request overrides the setting.
func TestFusionSetting(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.fusion = "convex" })
	if got := s.search("payment"); got.Fusion != "convex" {
		t.Errorf("the fusion is %q", got.Fusion)
	}
	if got := s.search("payment", map[string]any{"fusion": "rrf"}); got.Fusion != "rrf" {
		t.Errorf("the fusion that was asked for is %q", got.Fusion)
	}
}
