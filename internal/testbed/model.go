package testbed

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tasklens/internal/openai"
	"tasklens/scripts/lab/offline"
)

// Model serves the API of a model's provider until the test ends, and gives its base URL and a client of it that asks for
// the offline model.
func Model(t testing.TB, provider http.Handler) (baseURL string, client *openai.Client) {
	t.Helper()
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	baseURL = server.URL + "/v1"
	return baseURL, openai.New(openai.Config{
		BaseURL: baseURL, APIKey: "none", EmbeddingModel: offline.EmbeddingModel, ChatModel: offline.ChatModel, AttemptTimeout: time.Minute,
	})
}
