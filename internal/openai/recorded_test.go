package openai

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// recorded is what a real server answered, byte for byte.
func recorded(t *testing.T, name string) http.HandlerFunc {
	t.Helper()
	answer, err := os.ReadFile(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = connection.Write(answer)
			_ = connection.Close()
		}
	}
}

// What is wrong with a setting is not blamed on the text, whatever the status.
func TestRecordedRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says string
		key  bool
	}{
		"litellm-wrong-key":            {"refuses the key", true},
		"litellm-unknown-model":        {`does not know the model "embedder"`, false},
		"llama.cpp-unknown-model":      {`does not know the model "embedder"`, false},
		"litellm-dimensions":           {"does not take EMBEDDING_DIMENSIONS: unset it", false},
		"vllm-dimensions":              {"does not take EMBEDDING_DIMENSIONS: unset it", false},
		"llama.cpp-dimensions-ignored": {"does not take EMBEDDING_DIMENSIONS: unset it", false}, // it gives 384
	} {
		model := "embedder"
		if strings.Contains(name, "dimensions") {
			model = "embedder@64"
		}
		_, _, err := serve(t, recorded(t, name)).Embed(t.Context(), model, []string{"a"})
		failure, is := errors.AsType[*fault.Error](err)
		if !is || !strings.Contains(failure.Message, c.says) || errors.Is(err, fault.ErrKey) != c.key || errors.Is(err, fault.ErrInput) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// A prompt that the model has no room for is refused in words alone.
func TestRecordedPromptTooLong(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"vllm-prompt-too-long", "llama.cpp-prompt-too-long"} {
		_, err := serve(t, recorded(t, name)).Complete(t.Context(), chat.Request{Message: "a", MaxTokens: 1})
		if failure, is := errors.AsType[*fault.Error](err); !is || !strings.Contains(failure.Message, "too large for the model") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
