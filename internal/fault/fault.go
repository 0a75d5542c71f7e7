// Package fault defines the service's errors: a code for programs, a message fit for a client, and
// a wrapped cause for the log only. It knows nothing about HTTP, SQL or models. A table in the API
// maps codes to statuses.
package fault

import (
	"errors"
	"time"
)

// Code is the kind of a failure.
type Code string

const (
	Invalid      Code = "invalid"      // the request is malformed or out of range
	Unauthorized Code = "unauthorized" // no token, or an invalid one
	Forbidden    Code = "forbidden"    // a valid token without the right to do this
	NotFound     Code = "not_found"    // an unknown project, ticket, document or route
	RateLimited  Code = "rate_limited" // the caller exceeds its rate limit
	Provider     Code = "provider"     // the model provider failed
	Unavailable  Code = "unavailable"  // the database is unreachable or not ready, or the model provider limits our rate
	Timeout      Code = "timeout"      // an upstream timed out
	TooLarge     Code = "too_large"    // a request or response too large for an upstream
	Internal     Code = "internal"     // a bug of ours
)

// Reason says more about a failure than its Code, where a client acts on it.
type Reason string

const (
	TokenMissing     Reason = "token_missing"      // of Unauthorized
	TokenExpired     Reason = "token_expired"      // of Unauthorized
	SessionEnded     Reason = "session_ended"      // of Unauthorized: the user has signed out
	HostNotAllowed   Reason = "host_not_allowed"   // of Forbidden
	OriginNotAllowed Reason = "origin_not_allowed" // of Forbidden
	ModelLimited     Reason = "model_limited"      // of Unavailable: the model provider limits our rate
	ModelQuota       Reason = "model_quota"        // of Unavailable: the model provider's account is empty
	ModelKey         Reason = "model_key"          // of Provider: it refuses the key
	Busy             Reason = "busy"               // of Unavailable: too many requests at a time
	Stopping         Reason = "stopping"           // of Unavailable
)

// ErrKey marks an error because the model provider rejects the key.
var ErrKey = errors.New("the model provider refuses the key")

// ErrInput marks an error because the model provider refuses single texts, for themselves.
var ErrInput = errors.New("the model provider refuses a text")

// Field is an invalid field of a request: its name as the client wrote it, and what it must be.
type Field struct {
	Name    string `json:"field" doc:"The name as it was sent."`
	Message string `json:"message"`
}

// Error is a failure with a code. Message is shown to clients; the cause never is.
type Error struct {
	Code       Code
	Reason     Reason // "" if Code says it all
	Message    string
	Fields     []Field       // for Invalid: all invalid fields
	RetryAfter time.Duration // when to retry, which clients get of RateLimited and Unavailable; 0 if unknown
	cause      error
}

// New returns an error without a cause.
func New(code Code, message string) *Error {
	return &Error{Code: code, Message: message}
}

// Wrap returns an error with a cause, which only the log shows.
func Wrap(code Code, message string, cause error) *Error {
	return &Error{Code: code, Message: message, cause: cause}
}

// InvalidFields returns the error for a request with these invalid fields.
func InvalidFields(fields ...Field) *Error {
	return &Error{Code: Invalid, Message: "The request is not valid.", Fields: fields}
}

// Because sets the reason and returns the error.
func (e *Error) Because(reason Reason) *Error {
	e.Reason = reason
	return e
}

// Error returns the text for the log: code, message and cause. It omits the fields, whose names may
// be a client's own text.
func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of the first *Error in the chain, else Internal.
func CodeOf(err error) Code {
	var found *Error
	if errors.As(err, &found) {
		return found.Code
	}
	return Internal
}
