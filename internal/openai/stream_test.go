package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// events streams these data lines, flushing after each.
func events(data ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range data {
			fmt.Fprintf(w, "data: %s\n\n", line)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func delta(fields, finish string) string {
	return `{"model":"chatter-2","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":` + finish + `}]}`
}

// told collects the output of a stream.
func told(client *Client) (pieces []string, whole chat.Completion, err error) {
	whole, err = client.Stream(context.Background(), chat.Request{Instructions: "be good", Message: "hello", MaxTokens: 50}, func(piece string) error {
		pieces = append(pieces, piece)
		return nil
	})
	return pieces, whole, err
}

func TestStream(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Stream        bool
			StreamOptions struct {
				IncludeUsage bool `json:"include_usage"`
			} `json:"stream_options"`
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !body.Stream || !body.StreamOptions.IncludeUsage ||
			fmt.Sprint(body.Messages) != "[{system be good} {user hello}]" {
			t.Errorf("the request was %+v, %v", body, err)
		}
		events(delta(`"role":"assistant","content":""`, "null"), delta(`"content":"Hi "`, "null"), delta(`"content":"there"`, "null"), delta("", `"stop"`),
			`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`, "[DONE]")(w, r)
	})
	pieces, whole, err := told(client)
	if err != nil || !slices.Equal(pieces, []string{"Hi ", "there"}) || whole != (chat.Completion{Text: "Hi there", Model: "chatter-2", Finish: "stop", TokensIn: 7, TokensOut: 3}) {
		t.Errorf("the stream returned %q, %+v, %v", pieces, whole, err)
	}
	pieces, whole, err = told(serve(t, events(delta(`"refusal":"No"`, "null"), delta(`"refusal":"."`, `"stop"`))))
	if err != nil || !slices.Equal(pieces, []string{"No", "."}) || !whole.Refused || whole.Text != "No." {
		t.Errorf("refusal: %q, %+v, %v", pieces, whole, err)
	}
}

// A stream may last longer than an attempt's timeout as long as data arrives.
func TestStreamOutlastsTheAttemptTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 3 * time.Second
		client := New(Config{BaseURL: "http://provider/v1", ChatModel: "m", ThinksApart: true, AttemptTimeout: limit, Around: func(http.RoundTripper) http.RoundTripper {
			return slowly{limit - time.Millisecond}
		}})
		started := time.Now()
		if pieces, _, err := told(client); err != nil || len(pieces) != 8 || time.Since(started) < 7*(limit-time.Millisecond) {
			t.Errorf("after %v: %q, %v", time.Since(started), pieces, err)
		}
	})
}

// slowly is a provider that pauses after each of eight words, without a connection: the clock is
// synthetic.
type slowly struct{ pause time.Duration }

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	body, stream := io.Pipe()
	go func() {
		for range 8 {
			fmt.Fprintf(stream, "data: %s\n\n", delta(`"content":"on "`, "null"))
			time.Sleep(s.pause)
		}
		fmt.Fprintf(stream, "data: %s\n\n", delta("", `"stop"`))
		stream.Close()
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
}

// A stream that sends no data times out, before its first piece or after it.
func TestSilentStreamTimesOut(t *testing.T) {
	t.Parallel()
	for _, words := range []int{0, 1} {
		client, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
			for range words {
				events(delta(`"content":"on "`, "null"))(w, r)
			}
			<-r.Context().Done()
		}, Config{AttemptTimeout: 200 * time.Millisecond})
		if _, _, err := told(client); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("after %d words the error is %v, want a timeout", words, err)
		}
	}
}

// When the callback fails, the request is cancelled, and the circuit breaker does not count it.
func TestStreamAbandoned(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 10)
	client, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
		events(delta(`"content":"on"`, "null"))(w, r)
		<-r.Context().Done()
		ended <- struct{}{}
	}, Config{CircuitFailures: 2, CircuitPause: time.Hour})
	gone := errors.New("gone")
	for range 4 { // more than would open the circuit breaker
		if _, err := client.Stream(context.Background(), chat.Request{MaxTokens: 1}, func(string) error { return gone }); !errors.Is(err, gone) {
			t.Errorf("the error is %v, want the callback's", err)
		}
		<-ended
	}
}
