package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// The status decides, whatever the body.
func TestErrorsOfAnyForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		headers map[string]string
		code    fault.Code
		retry   time.Duration
		key     bool
		opens   bool
		log     string
	}{
		"text":           {429, `{"error":"too busy, come back","error_type":"Overloaded"}`, map[string]string{"Retry-After": "2.5"}, fault.Unavailable, 2500 * time.Millisecond, false, false, "429 Overloaded: too busy, come back"},
		"milliseconds":   {429, `busy`, map[string]string{"Retry-After-Ms": "3100"}, fault.Unavailable, 3100 * time.Millisecond, false, false, "429 : busy"},
		"HTML":           {429, "<html><style>p{}</style><h1>Too many\n requests</h1></html>", nil, fault.Unavailable, limitedPause, false, false, "429 : Too many requests"},
		"a list":         {429, `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`, nil, fault.Unavailable, limitedPause, false, false, "429 RESOURCE_EXHAUSTED: slow"},
		"status 200":     {200, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, nil, fault.Unavailable, limitedPause, false, false, "429 rate_limit_exceeded: slow down"},
		"200, by number": {200, `{"error":{"message":"slow down","code":429}}`, nil, fault.Unavailable, limitedPause, false, false, "429 429: slow down"},
		"200, by text":   {200, `{"error":{"message":"Rate limit reached, slow down"}}`, nil, fault.Unavailable, limitedPause, false, false, "429 : Rate limit reached"},
		"a list, 200":    {200, `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, nil, fault.Provider, 0, false, true, "503 503: overloaded"},
		"200, no code":   {200, `{"error":"it broke"}`, nil, fault.Provider, 0, false, true, "502 : it broke"},
		"key":            {403, `{"detail":"not authenticated"}`, nil, fault.Provider, accountPause, true, true, "403 : not authenticated"},
		"Gemini's key":   {400, `[{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}]`, nil, fault.Provider, accountPause, true, true, "API key expired"},
		"DeepSeek's":     {400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, nil, fault.Provider, 0, false, false, "404 invalid_request_error: Model Not Exist"},
		"model":          {404, `{"error":"model not found, try pulling it first"}`, nil, fault.Provider, 0, false, false, "404 : model not found"},
		"too large":      {413, ``, nil, fault.Provider, 0, false, false, "413 : "},
		"too large, 429": {429, `{"error":{"message":"Request too large for m: Limit 10, Requested 20","code":"rate_limit_exceeded"}}`, nil, fault.Provider, 0, false, false, "413"},
		"method":         {405, `{"detail":"Method Not Allowed"}`, nil, fault.Provider, 0, false, false, "405"},
		"a proxy's page": {403, `<html><h1>Request blocked</h1></html>`, nil, fault.Provider, 0, false, true, "502 : Request blocked"},
		"quota":          {429, `{"error":{"type":"insufficient_quota","message":"m"}}`, nil, fault.Unavailable, accountPause, false, true, "402 insufficient_quota"},
		"an outage":      {503, `no healthy upstream`, nil, fault.Provider, 0, false, true, "503 : no healthy upstream"},
		"no JSON":        {200, `oops`, nil, fault.Provider, 0, false, true, ""},
		"null":           {200, `null`, nil, fault.Provider, 0, false, true, ""},
		"nulls":          {200, `{"data":null,"choices":[null]}`, nil, fault.Provider, 0, false, true, ""},
		"no connection":  {0, ``, nil, fault.Provider, 0, false, true, ""},
		"too long":       {400, `{"error":{"code":"context_length_exceeded"}}`, nil, fault.Provider, 0, false, false, "400 context_length_exceeded"},
		"long":           {400, `{"message":"` + strings.Repeat("x", 999) + `"}`, nil, fault.Provider, 0, false, false, ": " + strings.Repeat("x", 300)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for act, ask := range map[string]func(*Client) error{
				"embed": func(client *Client) error { _, _, err := client.Embed(t.Context(), "e", []string{"a"}); return err },
				"complete": func(client *Client) error {
					_, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1})
					return err
				},
				"stream": func(client *Client) error { _, _, err := told(client); return err },
			} {
				client, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
					if c.status == 0 {
						panic(http.ErrAbortHandler)
					}
					for header, value := range c.headers {
						w.Header().Set(header, value)
					}
					say(c.status, c.body)(w, r)
				}, Config{CircuitFailures: 1, CircuitPause: time.Hour})
				err := ask(client)
				var failure *fault.Error
				if !errors.As(err, &failure) || failure.Code != c.code || failure.RetryAfter.Round(time.Millisecond) != c.retry || errors.Is(err, fault.ErrKey) != c.key {
					t.Errorf("%s: the error is %v", act, err)
				}
				if err == nil || !strings.Contains(err.Error(), c.log) || strings.Contains(failure.Message, "busy") {
					t.Errorf("%s: the log has %v", act, err)
				}
				if opened := client.OpenCircuits() != nil; opened != c.opens {
					t.Errorf("%s: the circuit breaker is open: %v", act, opened)
				}
			}
		})
	}
}

// A date says when to come back.
func TestRetryAfterADate(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	client, _ := counting(t, headed(say(429, `{}`), "Retry-After", at), Config{})
	_, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1})
	if failure, is := errors.AsType[*fault.Error](err); !is || failure.RetryAfter < 60*time.Second || failure.RetryAfter > 90*time.Second {
		t.Errorf("the error is %+v", failure)
	}
}

// What a provider's filter refuses is an answer that says so.
func TestFilteredPrompts(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"Azure":           say(400, `{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}`),
		"403":             say(403, `{"error":{"message":"requires moderation","code":403,"metadata":{"reasons":["violence"]}}}`),
		"policy":          say(400, `{"error":{"code":"content_policy_violation"}}`),
		"a text":          say(400, `{"error":"blocked by content filter"}`),
		"finish_reason":   say(200, `{"choices":[{"message":{"content":""},"finish_reason":"SAFETY"}]}`),
		"a guardrail":     say(403, `{"message":"blocked by guardrails","code":"guardrail_intervened"}`),
		"LiteLLM":         say(400, `{"error":{"message":"litellm.ContentPolicyViolationError: it was filtered due to the content management policy","type":null,"code":"400"}}`),
		"with status 200": say(200, `{"error":{"message":"blocked by the content filter"}}`),
		"within a stream": headed(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("data: {\"error\":{\"code\":\"content_filter\"}}\n\n"))
		}, "Content-Type", "text/event-stream"),
		"no choices": say(200, `{"choices":[],"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`),
	} {
		for act, ask := range map[string]func(*Client) (chat.Completion, error){
			"complete": func(client *Client) (chat.Completion, error) {
				return client.Complete(t.Context(), chat.Request{MaxTokens: 1})
			},
			"stream": func(client *Client) (chat.Completion, error) { _, said, err := told(client); return said, err },
		} {
			client, _ := counting(t, handler, Config{CircuitFailures: 1, CircuitPause: time.Hour})
			if said, err := ask(client); err != nil || said.Finish != chat.FinishFilter || said.Text != "" || client.OpenCircuits() != nil {
				t.Errorf("%s, %s: %+v, %v", name, act, said, err)
			}
		}
	}
}
