package testbed

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tasklens/scripts/convert/export"
)

// Convert returns a folder of JSON Lines of the files at these paths, for imports.
func Convert(t testing.TB, options export.Options, paths ...string) string {
	t.Helper()
	folder, err := ConvertTo(t.TempDir(), io.Discard, options, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// ConvertTo puts the lines, whatever they are, into one file of the folder: each says what it is.
func ConvertTo(folder string, says io.Writer, options export.Options, paths ...string) (string, error) {
	out, err := os.Create(filepath.Join(folder, "manifest.json"))
	if err != nil {
		return "", err
	}
	if options.Text == "" {
		options.Text = export.DefaultText
	}
	_, err = export.Convert(out, says, options, paths...)
	return folder, errors.Join(err, out.Close())
}
