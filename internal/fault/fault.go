// Package fault is the vocabulary of what can go wrong: a code that programs act on, a message fit for a client, and
// a wrapped cause fit for the log alone. It knows nothing of HTTP, SQL or models; one table in the API turns codes
// into statuses.
package fault

import (
	"errors"
	"time"
)

// Code says what kind of failure it is.
type Code string

const (
	Invalid      Code = "invalid"      // the request is malformed or out of range
	Unauthorized Code = "unauthorized" // no token, or a bad one
	Forbidden    Code = "forbidden"    // a good token that does not allow this
	NotFound     Code = "not_found"    // an unknown project, ticket, document or route
	RateLimited  Code = "rate_limited" // the caller asks too often
	Provider     Code = "provider"     // the model provider failed
	Unavailable  Code = "unavailable"  // the database is out of reach or not ready, or the model provider limits us
	Timeout      Code = "timeout"      // an upstream ran out of time
	TooLarge     Code = "too_large"    // an upstream takes no request, or gives no answer, of this size
	Internal     Code = "internal"     // our own mistake
)

// ErrKey is in the chain where the model provider refuses the key.
var ErrKey = errors.New("the model provider refuses the key")

// Field is one thing wrong with a request: the field's name as the client wrote it, and what it must be.
type Field struct {
	Name    string
	Message string
}

// Error is a failure with a code. Message is shown to clients; the cause never is.
type Error struct {
	Code       Code
	Message    string
	Fields     []Field       // for Invalid: every field at fault
	RetryAfter time.Duration // for RateLimited and Unavailable: when to try again; 0 where nobody knows
	cause      error
}

// New makes an error without a cause.
func New(code Code, message string) *Error {
	return &Error{Code: code, Message: message}
}

// Wrap makes an error of a cause. The cause is for the log.
func Wrap(code Code, message string, cause error) *Error {
	return &Error{Code: code, Message: message, cause: cause}
}

// InvalidFields makes the error for a request with these fields at fault.
func InvalidFields(fields ...Field) *Error {
	return &Error{Code: Invalid, Message: "The request is not valid.", Fields: fields}
}

// Error is the text for the log: code, message and cause. Not the fields: their names may be a client's own words.
func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf finds the code of an error: that of the first *Error in its chain, else Internal.
func CodeOf(err error) Code {
	var found *Error
	if errors.As(err, &found) {
		return found.Code
	}
	return Internal
}
