package testbed

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tasklens/internal/openai"
	"tasklens/scripts/lab/offline"
)

// Model serves a provider's API until the test ends. It returns its base URL and a client that uses
// the offline model.
func Model(t testing.TB, provider http.Handler) (baseURL string, client *openai.Client) {
	t.Helper()
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	baseURL = server.URL + "/v1"
	return baseURL, openai.New(openai.Config{
		BaseURL: baseURL, APIKey: "none", EmbeddingModel: offline.EmbeddingModel, ChatModel: offline.ChatModel, ThinksApart: true, AttemptTimeout: time.Minute,
	})
}
