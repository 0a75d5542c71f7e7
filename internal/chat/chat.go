// Package chat is the vocabulary between those who ask a chat model and whatever client asks it for
// them. It knows no provider.
package chat

import "errors"

// What ends a completion before the model does.
const (
	FinishLength = "length"
	FinishFilter = "content_filter"
)

// Completion is what a chat model said.
type Completion struct {
	Text      string
	Refused   bool   // the text is the model's refusal
	Model     string // as the provider names it
	Finish    string // stop, FinishLength, FinishFilter
	TokensIn  int    // as the provider counts them; 0 where it does not say
	TokensOut int
}

// Schema is the form of an answer: a JSON Schema within what a provider's strict mode takes (every
// property is required, none is additional).
type Schema struct {
	Name        string // letters, digits, underscores
	Description string // what the model is to make of it
	JSON        map[string]any
}

// ErrEnough is what a listener of a stream returns to end the provider's work without an error: the
// answer is whole as far as it was told.
var ErrEnough = errors.New("the answer is long enough")
