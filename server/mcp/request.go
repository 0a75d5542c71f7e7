package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// object is a part of a response.
type object = map[string]any

// call makes the requests of a tool.
type call struct{ api API }

// post sends a body. Null members count as absent.
func (c call) post(path string, body object, renamed ...string) (object, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return read200(c.api.Request(http.MethodPost, path, text), renamed)
}

// get requests a path with these query parameters, those that are null left out.
func (c call) get(path string, parameters object, renamed ...string) (object, error) {
	query := url.Values{}
	for name, value := range parameters {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		text := string(encoded)
		if text == "null" || text[0] == '"' && json.Unmarshal(encoded, &text) != nil {
			continue
		}
		query.Set(name, text)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return read200(c.api.Request(http.MethodGet, path, nil), renamed)
}

// segment escapes a text as one path segment. Dots alone would change the path.
func segment(text string) string {
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}

// read200 decodes a response and cleans all its texts. renamed holds pairs: a field of the request,
// and the argument it came from.
func read200(response Response, renamed []string) (object, error) {
	if response.Status != http.StatusOK {
		return nil, refusalOf(response, renamed)
	}
	var body object
	decoder := json.NewDecoder(bytes.NewReader(response.Body))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return nil, fmt.Errorf("decode the response: %w", err)
	}
	return cleaned(body).(object), nil
}

// problem is an RFC 9457 problem.
type problem struct {
	Title     string
	Code      string
	Detail    string
	RequestID string `json:"request_id"`
	Errors    []struct{ Field, Message string }
}

// advice is what a caller can do about a failure.
var advice = map[int]string{
	http.StatusBadRequest:          "Correct the arguments and call again.",
	http.StatusUnauthorized:        "The user must sign in again.",
	http.StatusForbidden:           "The user lacks the rights: do not retry.",
	http.StatusNotFound:            "It does not exist, or the user may not see it: look for it with search_tickets or search_documents.",
	http.StatusTooManyRequests:     "Wait before the next call.",
	http.StatusBadGateway:          "The model provider failed: retry once, later.",
	http.StatusServiceUnavailable:  "Retry later.",
	http.StatusGatewayTimeout:      "Retry once, with a narrower question or fewer results.",
	http.StatusInternalServerError: "Retrying will not help: report the request id.",
}

// refusalOf describes a problem of the API to a model.
func refusalOf(response Response, renamed []string) error {
	var p problem
	if err := json.Unmarshal(response.Body, &p); err != nil {
		return fmt.Errorf("decode a problem of status %d: %w", response.Status, err)
	}
	var text strings.Builder
	if len(p.Errors) == 0 {
		fmt.Fprintf(&text, "%s: %s ", p.Title, p.Detail)
	}
	for _, e := range p.Errors {
		field := e.Field
		for i := 0; i+1 < len(renamed); i += 2 {
			if field == renamed[i] {
				field = renamed[i+1]
			}
		}
		fmt.Fprintf(&text, "%s: %s. ", short(field), strings.TrimSuffix(e.Message, "."))
	}
	text.WriteString(advice[response.Status])
	if response.RetryAfter != "" {
		fmt.Fprintf(&text, " Retry after %s seconds.", response.RetryAfter)
	}
	if p.Code != "" {
		fmt.Fprintf(&text, " (code %s)", p.Code)
	}
	fmt.Fprintf(&text, " (request_id %s)", p.RequestID)
	return &refusal{text.String()}
}
