package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	return serveAs(t, Config{BaseURL: "/v1", APIKey: "the-key", EmbeddingModel: "embedder", ChatModel: "chatter", ThinksApart: true, AttemptTimeout: 20 * time.Second}, handler)
}

// serveAs starts a provider and returns a client of it. The base URL is a path.
func serveAs(t *testing.T, config Config, handler http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config.BaseURL = server.URL + config.BaseURL
	return New(config)
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// encoded returns a vector in the API's encoding: little-endian float32s in base64.
func encoded(numbers ...float32) string {
	var raw []byte
	for _, x := range numbers {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// The response is ordered by its indexes and encoded in base64.
func TestEmbed(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model          string
			Input          []string
			EncodingFormat string `json:"encoding_format"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "embedder" || strings.Join(body.Input, "|") != "a|b" || body.EncodingFormat != "base64" {
			t.Errorf("the request was %+v, %v", body, err)
		}
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer the-key" {
			t.Errorf("the request was %s %q", r.URL, r.Header)
		}
		say(200, fmt.Sprintf(`{"data":[{"index":1,"embedding":%q},{"index":0,"embedding":%q}],"usage":{"total_tokens":9}}`, encoded(0, 2), encoded(3, 4)))(w, r)
	})
	vectors, cut, err := client.Embed(context.Background(), client.EmbeddingModel(), []string{"a", "b"})
	if err != nil || cut != nil || len(vectors) != 2 || len(vectors[0]) != 1536 || vectors[0][0] != 0.6 || vectors[0][1] != 0.8 || vectors[1][1] != 1 {
		t.Errorf("got %d vectors, %d cut, %v", len(vectors), cut, err)
	}
	// A negative token count would panic a Prometheus counter.
	for counted, want := range map[int]int{9: 9, -9: 0} {
		server := serve(t, say(200, fmt.Sprintf(`{"data":[{"index":0,"embedding":%q}],"usage":{"total_tokens":%d}}`, encoded(1), counted)))
		got := -1
		server.watch = func(ctx context.Context, _, _ string) (context.Context, func(chat.Completion, error)) {
			return ctx, func(said chat.Completion, _ error) { got = said.TokensIn }
		}
		if _, _, err := server.Embed(t.Context(), "embedder", []string{"a"}); err != nil || got != want {
			t.Errorf("a count of %d tokens is reported as %d, %v", counted, got, err)
		}
	}
	if client.EmbeddingModel() != "embedder" || client.ChatModel() != "chatter" {
		t.Error("the model names differ from the configured ones")
	}
}

func TestEmbedRejectsMalformedResponses(t *testing.T) {
	t.Parallel()
	one := encoded(1)
	for name, body := range map[string]string{
		"null response":       `null`,
		"null data":           `{"data":null}`,
		"null items":          `{"data":[null,null]}`,
		"null item":           fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},null]}`, one),
		"no data":             `{"data":[]}`,
		"too many":            fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":%q},{"index":1,"embedding":%q}]}`, one, one, one),
		"different lengths":   fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":%q}]}`, one, encoded(1, 2)),
		"infinite number":     fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":%q}]}`, one, encoded(float32(math.Inf(1)))),
		"invalid base64":      fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":"?"}]}`, one),
		"null value":          fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":null}]}`, one),
		"repeated index":      fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":0,"embedding":%q}]}`, one, one),
		"negative index":      fmt.Sprintf(`{"data":[{"index":-1,"embedding":%q},{"index":1,"embedding":%q}]}`, one, one),
		"index out of range":  fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":2,"embedding":%q}]}`, one, one),
		"empty vector":        fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":""}]}`, one),
		"zero vector":         fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":%q}]}`, one, encoded(0, 0)),
		"NaN":                 fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":%q}]}`, one, encoded(float32(math.NaN()))),
		"too many dimensions": fmt.Sprintf(`{"data":[{"index":0,"embedding":%q},{"index":1,"embedding":%q}]}`, one, encoded(make([]float32, 1537)...)),
	} {
		if vectors, _, err := serve(t, say(200, body)).Embed(context.Background(), "embedder", []string{"a", "b"}); fault.CodeOf(err) != fault.Provider || vectors != nil {
			t.Errorf("%s: got %d vectors, %v; want a provider error", name, len(vectors), err)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model     string
			MaxTokens int `json:"max_tokens"`
			Messages  []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "chatter" || body.MaxTokens != 50 ||
			fmt.Sprint(body.Messages) != "[{system be good} {user hello}]" {
			t.Errorf("the request was %+v, %v", body, err)
		}
		say(200, `{"model":"chatter-2","choices":[{"finish_reason":"length","message":{"content":"Hi th"}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)(w, r)
	})
	if got, err := client.Complete(context.Background(), chat.Request{Instructions: "be good", Message: "hello", MaxTokens: 50}); err != nil || got != (chat.Completion{Text: "Hi th", Model: "chatter-2", Finish: "length", TokensIn: 7, TokensOut: 3}) {
		t.Errorf("the completion is %+v, %v", got, err)
	}
	if got, err := serve(t, say(200, `{"choices":[{"message":{"content":null,"refusal":"No."}}]}`)).Complete(context.Background(), chat.Request{MaxTokens: 1}); err != nil || got.Text != "No." || !got.Refused {
		t.Errorf("refusal: %+v, %v", got, err)
	}
	for _, body := range []string{`null`, `[]`, `{}`, `{"choices":null}`, `{"choices":[]}`, `{"choices":[null]}`, `{"choices":[{"message":null}]}`} {
		if _, err := serve(t, say(200, body)).Complete(context.Background(), chat.Request{MaxTokens: 1}); fault.CodeOf(err) != fault.Provider {
			t.Errorf("%s: the error is %v", body, err)
		}
	}
	wild := `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-7,"completion_tokens":9000000000000}}`
	if got, err := serve(t, say(200, wild)).Complete(context.Background(), chat.Request{MaxTokens: 1}); err != nil || got.TokensIn != 0 || got.TokensOut != math.MaxInt32 {
		t.Errorf("out-of-range token counts: %+v, %v", got, err)
	}
}

// Providers may repeat the key in an error message.
func TestKeyIsNotRepeated(t *testing.T) {
	t.Parallel()
	const key = "the-key"
	repeating := func(answer func(key string) http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			answer(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))(w, r)
		}
	}
	message := func(status int) http.HandlerFunc {
		return repeating(func(key string) http.HandlerFunc {
			return say(status, fmt.Sprintf(`{"error":{"code":"bad %[1]s","message":"Bearer %[1]s, no, %[1]s: sorry"}}`, key))
		})
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		key     string
		want    string // the error of the stream
	}{
		"invalid key":  {message(401), key, "answered 401 bad …: Bearer …, no, …: sorry"},
		"rate limit":   {message(429), key, "answered 429 bad …: Bearer …, no, …: sorry"},
		"server error": {message(500), key, "answered 500 bad …: Bearer …, no, …: sorry"},
		"no key":       {message(401), "", "answered 401 bad: Bearer , no, : sorry"},
		"redirect": {repeating(func(key string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "gopher://"+key)
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
		}), key, "gopher://…"},
		"error in a stream": {repeating(func(key string) http.HandlerFunc {
			return events(delta(`"content":"Hi"`, "null"), `{"error":{"message":"not with `+key+`"}}`)
		}), key, "not with …"},
	} {
		client := serveAs(t, Config{APIKey: c.key, EmbeddingModel: "embedder", ChatModel: "chatter"}, c.handler)
		_, _, embed := client.Embed(t.Context(), client.EmbeddingModel(), []string{"a"})
		_, complete := client.Complete(t.Context(), chat.Request{Instructions: "i", Message: "m", MaxTokens: 5})
		_, _, stream := told(client)
		for act, err := range map[string]error{"embed": embed, "ask": complete, "stream": stream} {
			if err == nil || strings.Contains(err.Error(), key) {
				t.Errorf("%s, %s: the error is %v, want one without the key", name, act, err)
			}
		}
		if stream == nil || !strings.Contains(stream.Error(), c.want) {
			t.Errorf("%s: the error is %v, want it to contain %q", name, stream, c.want)
		}
	}
	if _, _, err := serve(t, message(401)).Embed(t.Context(), "embedder", []string{"a"}); !errors.Is(err, fault.ErrKey) {
		t.Errorf("the error for a rejected key is %v", err)
	}
}

func TestNoResponse(t *testing.T) {
	t.Parallel()
	hanging := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	client := serve(t, hanging)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := client.Embed(ctx, client.EmbeddingModel(), []string{"a"}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("at the deadline the error is %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := client.Embed(cancelled, client.EmbeddingModel(), []string{"a"}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("after cancellation the error is %v", err)
	}
	short := serveAs(t, Config{EmbeddingModel: "m", AttemptTimeout: 50 * time.Millisecond}, http.HandlerFunc(hanging))
	if _, _, err := short.Embed(context.Background(), short.EmbeddingModel(), []string{"a"}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("after the attempt's timeout the error is %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, _, err := New(Config{BaseURL: gone.URL, EmbeddingModel: "m"}).Embed(context.Background(), "m", []string{"a"}); fault.CodeOf(err) != fault.Provider {
		t.Errorf("the error for a refused connection is %v", err)
	}
}

// A model with reduced dimensions is stored under a name with the number of dimensions.
func TestDimensions(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked <- string(body)
		wanted := struct{ Dimensions int }{2}
		_ = json.Unmarshal(body, &wanted)
		say(200, fmt.Sprintf(`{"data":[{"index":0,"embedding":%q}]}`, encoded(append(make([]float32, wanted.Dimensions-1), 1)...)))(w, r)
	}))
	t.Cleanup(server.Close)
	for dimensions, want := range map[int]string{0: "m", 768: "m@768"} {
		client := New(Config{BaseURL: server.URL + "/v1", EmbeddingModel: "m", Dimensions: dimensions, AttemptTimeout: 20 * time.Second})
		if client.EmbeddingModel() != want {
			t.Errorf("with %d dimensions the model's name is %q", dimensions, client.EmbeddingModel())
		}
		if _, _, err := client.Embed(t.Context(), client.EmbeddingModel(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if body := <-asked; !strings.Contains(body, `"model":"m"`) || strings.Contains(body, `"dimensions":768`) != (dimensions == 768) || strings.Contains(body, `"dimensions":0`) {
			t.Errorf("with %d dimensions the request was %s", dimensions, body)
		}
		// A stored model name overrides the configured model and dimensions.
		for stored, want := range map[string][2]string{"n": {`"model":"n"`, ""}, "n@256": {`"model":"n"`, `"dimensions":256`}, "n@x": {`"model":"n@x"`, ""}} {
			if _, _, err := client.Embed(t.Context(), stored, []string{"a"}); err != nil {
				t.Fatal(err)
			}
			body := <-asked
			if !strings.Contains(body, want[0]) || !strings.Contains(body, want[1]) || strings.Contains(body, `"dimensions"`) != (want[1] != "") {
				t.Errorf("for the model %q the request was %s", stored, body)
			}
		}
	}
}
