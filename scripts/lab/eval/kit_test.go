package eval_test

import (
	"os"
	"path/filepath"
	"testing"
)

// folder holds files of these names and texts.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	path := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
