package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A second run embeds nothing again, and a file of a run that was killed is refused.
func TestStoredVectors(t *testing.T) {
	t.Parallel()
	path, asked := filepath.Join(t.TempDir(), "vectors"), 0
	open := func() (embedder, error) {
		return stored(path, 2, func(text string) ([]float32, error) {
			asked++
			return []float32{float32(len(text)), 1}, nil
		})
	}
	for range 2 {
		embed, err := open()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"pump", "valves", "pump"} {
			if v, err := embed(text); err != nil || !slices.Equal(v, []float32{float32(len(text)), 1}) {
				t.Errorf("%s is %v, %v", text, v, err)
			}
		}
	}
	if asked != 2 {
		t.Errorf("the model embedded %d texts", asked)
	}
	if err := os.Truncate(path, 50); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "ends within a vector") {
		t.Errorf("half a vector is %v", err)
	}
}
