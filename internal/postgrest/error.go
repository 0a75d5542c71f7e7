package postgrest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"

	"tasklens/internal/fault"
)

// UnknownFunction is PostgREST's code for a function that does not exist with these arguments.
const UnknownFunction = "PGRST202"

// UnknownSchema is PostgREST's code for a schema that it does not expose.
const UnknownSchema = "PGRST106"

// Expose is what to do about UnknownSchema.
const Expose = "Add the schema to those that the API exposes (api.schemas in supabase/config.toml; hosted: Project Settings → Data API → Exposed schemas), or correct SUPABASE_SCHEMA."

// undefinedFunction is the SQLSTATE of a call that PostgREST's schema cache still knows, although
// the function was dropped or has other parameters.
const undefinedFunction = "42883"

// invalidParameter is the SQLSTATE that a function raises for an invalid value.
const invalidParameter = "22023"

// fieldFault matches a message about a field that the database validates: "filters.open is of type
// string". It contains only names from the caller's request.
var fieldFault = regexp.MustCompile(`(?s)^(filters[^ ]*?|language|query):? (.+)$`)

// Error is an error response of PostgREST.
type Error struct {
	Status  int    `json:"-"` // of HTTP
	Code    string // an SQLSTATE, or PGRST… for PostgREST's own errors
	Message string
	Details string // may quote whole rows, so it is in no error text
	Hint    string
	stale   bool // the schema cache of PostgREST is older than the function
}

// IsStale reports whether a call failed because the function changed since PostgREST read the
// schema.
func IsStale(err error) bool {
	answer, is := errors.AsType[*Error](err)
	return is && answer.stale
}

// isUndone reports whether the transaction was undone because of another (40001, or a deadlock).
func (e *Error) isUndone() bool { return e.Code == "40001" || e.Code == "40P01" }

func (e *Error) Error() string {
	text := fmt.Sprintf("PostgREST answered %d %s: %s", e.Status, e.Code, e.Message)
	if e.Code == UnknownSchema {
		text += " (" + Expose + ")"
	}
	if e.stale {
		text += " (its schema cache is older than the database: notify pgrst, 'reload schema')"
	}
	return text
}

// readError reads the error body if there is one: a proxy may respond with anything.
func readError(response *http.Response) *Error {
	failure := &Error{Status: response.StatusCode}
	_ = json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(failure)
	failure.Message = cmp.Or(failure.Message, http.StatusText(response.StatusCode))
	return failure
}

// failure maps a failure to the service's errors. Database messages are kept in the cause, because
// they may name tables and quote values.
func (s *Session) failure(ctx context.Context, function string, err error) error {
	var answer *Error
	var network net.Error
	switch {
	case errors.As(err, &answer):
		// A function that it calls may be missing, too.
		answer.stale = answer.Code == undefinedFunction && strings.Contains(answer.Message, "."+function+"(")
		return s.answered(answer)
	case errors.As(err, new(*http.MaxBytesError)):
		return fault.Wrap(fault.TooLarge, "The database's response is too large.", err)
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.Timeout, "The request was cancelled.", err)
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout():
		return fault.Wrap(fault.Timeout, "The database did not answer in time.", err)
	default:
		return fault.Wrap(fault.Unavailable, "The database is not reachable.", err)
	}
}

// claimsNUL reports whether a token's claims contain U+0000, rather than the arguments.
func claimsNUL(token string) bool {
	claims, _ := base64.RawURLEncoding.DecodeString(strings.Split(token+"..", ".")[1])
	return strings.Contains(strings.ReplaceAll(string(claims), `\\`, ""), `\u0000`)
}

func (s *Session) answered(answer *Error) error {
	switch {
	case answer.Code == "42501": // PostgREST sends it with a 401 for the role anon, though the token is valid
		return fault.Wrap(fault.Forbidden, "This is not allowed.", answer)
	case answer.Status == http.StatusUnauthorized || answer.Code == "PGRST301" || answer.Code == "PGRST303" || answer.Code == "22P05" && claimsNUL(s.token):
		if s.service {
			return fault.Wrap(fault.Unavailable, "The database does not accept the service's key.", answer)
		}
		if answer.Message == "JWT expired" { // PGRST301 or PGRST303, by PostgREST's version
			return fault.Wrap(fault.Unauthorized, "The access token has expired.", answer).Because(fault.TokenExpired)
		}
		return fault.Wrap(fault.Unauthorized, "The access token is not valid.", answer)
	case answer.Code == "22P05" && !s.service:
		return fault.Wrap(fault.Invalid, "The request must not contain U+0000.", answer)
	case answer.Code == "57014" || answer.Status == http.StatusGatewayTimeout:
		return fault.Wrap(fault.Timeout, "The database did not answer in time.", answer)
	case answer.Status == http.StatusRequestEntityTooLarge:
		return fault.Wrap(fault.TooLarge, "The database refuses a request of this size.", answer)
	case answer.Code == invalidParameter && fieldFault.MatchString(answer.Message):
		told := fieldFault.FindStringSubmatch(answer.Message)
		invalid := fault.Wrap(fault.Invalid, "The request is not valid.", answer)
		invalid.Fields = []fault.Field{{Name: told[1], Message: strings.TrimRight(told[2]+". "+answer.Hint, ". ")}}
		return invalid
	case answer.Code == UnknownSchema:
		return fault.Wrap(fault.Unavailable, "The database is not ready: its API does not expose the schema SUPABASE_SCHEMA.", answer)
	case answer.Code == UnknownFunction:
		return fault.Wrap(fault.Unavailable, "The database is not ready: migrations are missing.", answer)
	case answer.stale:
		return fault.Wrap(fault.Unavailable, "The database is not ready: its functions have changed.", answer)
	case answer.isUndone():
		return fault.Wrap(fault.Unavailable, "Another transaction was in the way.", answer)
	case answer.Code == "": // not from PostgREST: a proxy, or another server at its address
		return fault.Wrap(fault.Unavailable, "The database is not reachable.", answer)
	case answer.Status >= 502 || strings.HasPrefix(answer.Code, "08") || strings.HasPrefix(answer.Code, "53") ||
		strings.HasPrefix(answer.Code, "57P") || strings.HasPrefix(answer.Code, "PGRST00"):
		return fault.Wrap(fault.Unavailable, "The database is not ready.", answer)
	default:
		return fault.Wrap(fault.Internal, "The database could not do this.", answer)
	}
}
