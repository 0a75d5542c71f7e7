package testbed

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Folder returns a new folder of this name that holds these files, by their paths in it.
func Folder(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	for file, text := range files {
		path := filepath.Join(folder, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
