package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What stops an import names the setting that it comes from; bad rows alone do not stop it.
func TestImportSaysWhatStoppedIt(t *testing.T) {
	_, settings := startStack(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"code":"invalid_api_key","message":"no"}}`))
	}))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(nil)
	gone.Close()

	const header, good, bad = "Issue key,Summary\n", "A-1,Good\n", "A-2,\n"
	for _, c := range []struct{ name, rows, model, want string }{
		{"the model is out of reach", good, strings.Replace(gone.URL, "//", "//user:secret@", 1) + "/v1", "OPENAI_BASE_URL, http://user:xxxxx@"},
		{"the key is refused", good, refusing.URL + "/v1", "refuses OPENAI_API_KEY"},
		{"no good row", bad + bad, settings["OPENAI_BASE_URL"], "none of 2 rows is good"},
		{"some good rows", good + bad, settings["OPENAI_BASE_URL"], ""},
		{"no rows", "", settings["OPENAI_BASE_URL"], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			setEnvironment(t, with(settings, "OPENAI_BASE_URL", c.model))
			file := filepath.Join(t.TempDir(), "export.csv")
			if err := os.WriteFile(file, []byte(header+c.rows), 0o600); err != nil {
				t.Fatal(err)
			}
			err := importFiles(t.Context(), []string{file})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v does not say %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("a password is told: %v", err)
			}
		})
	}
}
