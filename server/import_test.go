package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tasklens/internal/gateway"
	"tasklens/internal/offline"
	"tasklens/internal/testbed"
)

// What stops an import names the setting that it comes from; bad rows alone do not stop it.
func TestImportSaysWhatStoppedIt(t *testing.T) {
	url, secret := testbed.REST(t, testbed.Database(t))
	key, err := gateway.Token(secret, map[string]any{"role": "service_role", "exp": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(offline.NewHandler())
	t.Cleanup(model.Close)
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
		{"the model is out of reach", good, strings.Replace(gone.URL, "//", "//user:secret@", 1), "OPENAI_BASE_URL, http://user:xxxxx@"},
		{"the key is refused", good, refusing.URL, "refuses OPENAI_API_KEY"},
		{"no good row", bad + bad, model.URL, "none of 2 rows is good"},
		{"some good rows", good + bad, model.URL, ""},
		{"no rows", "", model.URL, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			setEnvironment(t, map[string]string{"SUPABASE_URL": url, "SUPABASE_REST_URL": url, "SUPABASE_SECRET_KEY": key, "OPENAI_API_KEY": "k",
				"OPENAI_BASE_URL": c.model + "/v1", "EMBEDDING_MODEL": offline.EmbeddingModel, "MODEL_RETRIES": "0"})
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
