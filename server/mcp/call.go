package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tasklens/internal/clean"
	"tasklens/internal/fault"
)

// object is a part of a response.
type object = map[string]any

// call runs the operations of a tool.
type call struct{ api API }

// run runs an operation and decodes its response, with all texts cleaned. Null arguments count as
// absent. renamed holds pairs: a field of the operation, and the argument it came from.
func (c call) run(operation string, arguments object, renamed ...string) (object, error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	response, err := c.api.Call(operation, text)
	if err != nil {
		return nil, refusalOf(err, renamed)
	}
	var body object
	decoder := json.NewDecoder(bytes.NewReader(response))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return nil, fmt.Errorf("decode the response: %w", err)
	}
	return cleaned(body).(object), nil
}

// Problem is why an operation failed, as the API says it.
type Problem struct {
	Status     int
	Code       string
	Detail     string
	RequestID  string
	Fields     []fault.Field
	RetryAfter int // seconds; 0: unknown
}

func (p *Problem) Error() string { return p.Detail }

// advice is what a caller can do about a failure, by its status.
var advice = map[int]string{
	400: "Correct the arguments and call again.",
	401: "The user must sign in again.",
	403: "The user lacks the rights: do not retry.",
	404: "It does not exist, or the user may not see it: look for it with search_tickets or search_documents.",
	429: "Wait before the next call.",
	502: "The model provider failed: retry once, later.",
	503: "Retry later.",
	504: "Retry once, with a narrower question or fewer results.",
	500: "Retrying will not help: report the request id.",
}

// refusalOf describes a problem of an operation to a model.
func refusalOf(err error, renamed []string) error {
	var p *Problem
	if !errors.As(err, &p) {
		return err
	}
	var text strings.Builder
	if len(p.Fields) == 0 {
		fmt.Fprintf(&text, "%s ", p.Detail)
	}
	for _, field := range p.Fields {
		for i := 0; i+1 < len(renamed); i += 2 {
			if field.Name == renamed[i] {
				field.Name = renamed[i+1]
			}
		}
		fmt.Fprintf(&text, "%s: %s. ", clean.Excerpt(line(field.Name), maxName), strings.TrimSuffix(field.Message, "."))
	}
	text.WriteString(advice[p.Status])
	if p.RetryAfter > 0 {
		fmt.Fprintf(&text, " Retry after %d seconds.", p.RetryAfter)
	}
	fmt.Fprintf(&text, " (code %s) (request_id %s)", p.Code, p.RequestID)
	return &refusal{text.String(), p.Status}
}
