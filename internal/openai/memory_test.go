package openai

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"tasklens/internal/chat"
)

// What a call allocates is bounded by the size of a response, whatever its shape. Not parallel,
// because it counts what all goroutines allocate.
func TestBrokenResponsesCostLittle(t *testing.T) {
	const size, most = 16 << 20, 128 << 20
	filled := func(before, unit, after string) string {
		return before + strings.Repeat(unit, size/len(unit)) + after
	}
	nested := strings.Repeat("[", 4000) + strings.Repeat(`"a",`, 100_000) + `""` + strings.Repeat("]", 4000)
	events := func(content string) string { return filled("", "data: "+delta(content, "null")+"\n\n", "") }
	long := strings.Repeat("a", 1000)
	for name, body := range map[string]string{
		"embeddings without members": filled(`{"data":[`, `{},`, `{}]}`),
		"embeddings that are null":   filled(`{"data":[`, `null,`, `null]}`),
		"many embeddings":            filled(`{"data":[`, `{"index":0,"embedding":[1]},`, `{}]}`),
		"one long embedding":         filled(`{"data":[{"embedding":[`, `0,`, `1]}]}`),
		"one long text":              filled(`{"data":[{"embedding":"`, `AAAA`, `"}]}`),
		"members":                    filled(`{"data":[]`, `,"a":{}`, `}`),
		"nested lists":               filled(``, `[`, ``),
		"nested objects":             filled(``, `{"a":`, ``),
		"models":                     filled(`{"object":"list","data":[`, `{"id":"m","object":"model"},`, `{"id":"m"}]}`),
		"choices that are null":      strings.Repeat(" ", size/2) + `{"choices":[null]}`,
		"choices without members":    `{"choices":[` + strings.Repeat(`{},`, size/8) + `{}]}`,
		"parts of a text":            `{"choices":[{"message":{"content":[` + strings.Repeat(`{},`, size/8) + `{}]}}]}`,
		"long parts of a text":       `{"choices":[{"message":{"content":[` + strings.Repeat(`"`+long+`",`, size/2/1024) + `""]}}]}`,
		"parts of a thought":         `{"choices":[{"message":{"content":"a","reasoning":[` + strings.Repeat(`[],`, size/8) + `[]]}}]}`,
		"nested thoughts":            `{"choices":[{"message":{"content":"a","reasoning":` + nested + `}}]}`,
		"calls":                      `{"choices":[{"message":{"tool_calls":[` + strings.Repeat(`{},`, size/8) + `{}]}}]}`,
		"usage":                      `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":[` + strings.Repeat(`[],`, size/8) + `[]]}}`,
		"a list as an error":         filled(`{"error":[`, `[],`, `[]]}`),
		"nested errors":              `{"error":` + nested + `}`,
		"a page":                     filled(`<html>`, `<style>`, ``),
		"words":                      filled(``, `a `, ``),
		"events":                     events(""),
		"events with a text":         events(`"content":"` + long + `"`),
		"events with thoughts":       events(`"content":"<think>"`),
		"events with special tokens": events(`"content":"<|a|>"`),
		"events with calls":          events(`"tool_calls":[{"index":0,"function":{"arguments":"a"}}]`),
		"one event":                  `data: {"choices":[` + strings.Repeat(`{},`, size/8) + "{}]}\n\n",
	} {
		streamed := strings.HasPrefix(body, "data:")
		for _, code := range []int{http.StatusOK, http.StatusRequestEntityTooLarge} { // neither leads to another request
			client := serveAs(t, Config{EmbeddingModel: "e", ChatModel: "m", AttemptTimeout: time.Minute}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if streamed {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				w.WriteHeader(code)
				_, _ = io.WriteString(w, body)
			}))
			acts := map[string]func() error{
				"one input": func() error { _, _, err := client.Embed(t.Context(), "e", []string{"a"}); return err },
				"inputs": func() error {
					_, err := (&embedding{Client: client, model: "e"}).ask(t.Context(), texted(maxInputs, 3))
					return err
				},
				"a chat": func() error { _, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1}); return err },
			}
			if streamed {
				acts = map[string]func() error{"a stream": func() error { _, _, err := told(client); return err }}
			}
			for act, call := range acts {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := call()
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > most {
					t.Errorf("%s, status %d, %s: %d MB (%v)", name, code, act, took>>20, err)
				}
			}
		}
	}
}
