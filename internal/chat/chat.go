// Package chat defines the requests and responses of a chat model, independent of the provider.
package chat

import "errors"

// Reasons for which a completion ends early.
const (
	FinishLength = "length"
	FinishFilter = "content_filter"
)

// Request is what a chat model is asked.
type Request struct {
	Instructions string  // the system message
	Message      string  // the user message
	MaxTokens    int     // the most that it may write
	Tool         *Schema // what it may call, once, in place of an answer; nil: nothing
}

// Completion is a chat model's answer.
type Completion struct {
	Text      string
	Call      string // the arguments of its first call of the tool, unchecked: JSON, if they are whole; "" without a call
	Refused   bool   // the text is the model's refusal
	Thought   bool   // the model thought; with FinishLength and no text, its thoughts used up all the room
	Model     string // the provider's name of it
	Finish    string // stop, FinishLength, FinishFilter
	TokensIn  int    // as the provider reports them; 0 if it does not
	TokensOut int
}

// Schema is the JSON Schema of an answer or of a tool's arguments, within what strict mode accepts
// (every property is required, and there are no additional ones).
type Schema struct {
	Name        string // letters, digits, underscores
	Description string // tells the model what it is for
	JSON        map[string]any
}

// ErrEnough is returned by the receiver of a stream to cancel the request without an error: the
// text received so far is the answer.
var ErrEnough = errors.New("the answer is long enough")

// ErrLate is the cause of a deadline after which a caller goes on without the model. It says
// nothing about the provider, whose circuit breaker does not count it.
var ErrLate = errors.New("the caller goes on without the model")
