package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
)

// send posts a request in the server's dialect. A refusal of a field is answered by a request
// without it. The response is a good one, and the caller closes its body.
func (c *Client) send(ctx context.Context, d *dialect, path string, body map[string]any, options ...option.RequestOption) (*http.Response, error) {
	var first error
	for changed := d.changed(); ; {
		shaped := shape(body, changed)
		response, err := c.post(ctx, path, shaped, options...)
		if err == nil {
			if added := d.learn(body, changed); len(added) > 0 {
				c.notice("the model provider speaks a dialect", "operation", path, "changes", strings.Join(added, ", "), "refusal", cause{first, c.key})
			}
			return response, nil
		}
		if first == nil {
			first = err
		}
		tried := changed
		if refused, is := err.(*refusal); is {
			changed = d.next(refused, body, tried)
		}
		if changed == tried {
			return nil, first
		}
	}
}

// post sends one request, repeated where that may help, and turns what is no answer into an error.
func (c *Client) post(ctx context.Context, path string, body map[string]any, options ...option.RequestOption) (*http.Response, error) {
	var response *http.Response
	err := c.api.Post(ctx, path, body, &response, options...)
	if response == nil || err == nil && isStream(response) {
		return response, err
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if refused := readRefusal(response.StatusCode, response.Header, content); refused != nil {
		return nil, refused
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, err
}

func isStream(response *http.Response) bool {
	return response.StatusCode < 300 && strings.HasPrefix(strings.ToLower(response.Header.Get("Content-Type")), "text/event-stream")
}

// decode decodes JSON of a bounded number of values. Signs within texts count, too.
func decode(data []byte, into any) error {
	if bytes.Count(data, []byte(","))+bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxValues {
		return unusable("gave a response of more than %d values", maxValues)
	}
	return json.Unmarshal(data, into)
}
