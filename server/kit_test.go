package main

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/scripts/convert/export"
	"tasklens/scripts/lab/offline"
	"tasklens/scripts/lab/offline/words"
)

// nextModel is a second embedding model, whose vectors point another way than those of the first,
// and are alike enough for the threshold of a model that is not measured.
const nextModel = "next-embedding"

// newProvider serves the offline models and nextModel.
func newProvider() http.Handler {
	return offline.NewHandler(offline.WithEmbedder(nextModel, func(text string) ([]float32, error) {
		vector := words.Vector(text)
		for i := range vector {
			vector[i] = -vector[i]
		}
		vector[0] += 2
		return vector, nil
	}))
}

// startStack creates a database for a test, and returns the settings by which the program finds it
// and the models.
func startStack(t *testing.T) (owner *pgx.Conn, settings map[string]string) {
	t.Helper()
	return startStackOver(t, testbed.Database(t))
}

func startStackOver(t *testing.T, db *testbed.DB, schemas ...string) (owner *pgx.Conn, settings map[string]string) {
	t.Helper()
	url, secret := testbed.REST(t, db, schemas...)
	key := testbed.Token(t, secret, "service_role")
	model := httptest.NewServer(newProvider())
	t.Cleanup(model.Close)
	return testbed.Connect(t, db.OwnerURL), map[string]string{"SUPABASE_URL": url, "SUPABASE_REST_URL": url, "SUPABASE_SECRET_KEY": key,
		"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.URL + "/v1", "EMBEDDING_MODEL": offline.EmbeddingModel, "CHAT_MODEL": offline.ChatModel, "PORT": "0"}
}

// with returns settings with others set over them.
func with(settings map[string]string, names ...string) map[string]string {
	settings = maps.Clone(settings)
	for i := 0; i < len(names); i += 2 {
		settings[names[i]] = names[i+1]
	}
	return settings
}

// await polls until a count has this value.
func await(t *testing.T, db *pgx.Conn, want int, sql string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var got int
		if err := db.QueryRow(t.Context(), sql).Scan(&got); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d after a minute, want %d", sql, got, want)
		}
	}
}

// importFiles converts files and imports what that gives, as scripts/import does, with the options
// of both.
func importFiles(ctx context.Context, args []string) error {
	folder, err := os.MkdirTemp("", "rows")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	importing, err := convertFiles(folder, os.Stderr, args)
	if err != nil {
		return err
	}
	return importRows(ctx, append(importing, folder))
}

// convertFiles returns the options that are not the converter's.
func convertFiles(folder string, says io.Writer, args []string) (importing []string, err error) {
	options := export.Options{Text: export.DefaultText}
	of := map[string]*string{"--origin": &options.Origin, "--prefix": &options.Prefix, "--text": &options.Text, "--labels": &options.Labels,
		"--language": &options.Language, "--restricted": &options.Restricted}
	for len(args) > 1 {
		if option := of[args[0]]; option != nil {
			*option, args = args[1], args[1:]
		} else {
			importing = append(importing, args[0])
		}
		args = args[1:]
	}
	_, err = testbed.ConvertTo(folder, says, options, args...)
	return importing, err
}
