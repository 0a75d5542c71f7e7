package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
)

// outcome is what a client gets of a failure.
type outcome struct {
	status int
	code   string // stable, for programs
}

// outcomes is the one table of what a failure's code means in HTTP. A reason replaces the code.
// Clients rely on these codes: docs/api.md lists them, and a test compares all.
var outcomes = map[fault.Code]outcome{
	fault.Invalid:      {http.StatusBadRequest, "invalid"},
	fault.Unauthorized: {http.StatusUnauthorized, "token_invalid"},
	fault.Forbidden:    {http.StatusForbidden, "forbidden"},
	fault.NotFound:     {http.StatusNotFound, "not_found"},
	fault.RateLimited:  {http.StatusTooManyRequests, "rate_limited"},
	fault.Provider:     {http.StatusBadGateway, "model_failed"},
	fault.Unavailable:  {http.StatusServiceUnavailable, "unavailable"},
	fault.Timeout:      {http.StatusGatewayTimeout, "timeout"},
	fault.TooLarge:     {http.StatusInternalServerError, "internal"},
	fault.Internal:     {http.StatusInternalServerError, "internal"},
}

// refusal is what a client gets of a request that no handler has seen.
type refusal struct{ code, detail string }

var refusals = map[int]refusal{
	http.StatusNotFound:         {"path_not_found", "There is nothing at this path."},
	http.StatusMethodNotAllowed: {"method_not_allowed", "Method not allowed for this path."},
	http.StatusUnsupportedMediaType: {"unsupported_media_type",
		"The request body must be JSON (Content-Type: application/json) and not be compressed."},
	http.StatusRequestEntityTooLarge:       {"body_too_large", "The request body is over the limit of " + strconv.Itoa(maxBodyBytes) + " bytes."},
	http.StatusRequestHeaderFieldsTooLarge: {"headers_too_large", "The request's headers are over the limit of " + strconv.Itoa(maxHeaderBytes) + " bytes."},
}

// defaultRetryAfter is sent where no better value is known.
const defaultRetryAfter = 5 * time.Second

// problemBody is an RFC 9457 problem.
type problemBody struct {
	_ struct{} `schema:"Problem" doc:"A failure (RFC 9457)."`

	Type      string        `json:"type" enum:"about:blank"`
	Title     string        `json:"title" doc:"The name of the status."`
	Status    int           `json:"status" min:"400" max:"599"`
	Code      string        `json:"code" schema:"ProblemCode"`
	Detail    string        `json:"detail" doc:"May be shown to users."`
	RequestID string        `json:"request_id" doc:"The same as X-Request-Id."`
	Errors    []fault.Field `json:"errors,omitempty" min:"1" max:"20" doc:"Only with 400: the first 20 fields or parameters at fault."`
}

// problem responds with an error. The client gets only the error's message; the log gets the
// cause.
func (a *API) problem(c *fiber.Ctx, err error) error {
	if RequestID(c.UserContext()) == "" {
		a.dress(c) // nothing of ours has seen the request yet
	}
	err = a.stopping(err)
	var failure *fault.Error
	if seconds := retryAfter(err); seconds > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(seconds))
	}
	if errors.As(err, &failure) && failure.Code == fault.Unauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, a.challenge(c))
	}
	body := a.describe(err, newLogged(c, err))
	return c.Status(body.Status).JSON(body, "application/problem+json")
}

// logged returns the log attributes of a request. They omit the path, which may contain search
// terms.
type logged struct {
	ctx               context.Context // for ids alone: it may have ended
	id, method, route string
}

func newLogged(c *fiber.Ctx, err error) logged {
	request := logged{ctx: c.UserContext(), id: RequestID(c.UserContext()), method: c.Method(), route: routeOf(c, err)}
	if request.id == "" {
		// The request could not be parsed, so none of our handlers has run.
		request.id = takeID(c)
		request.ctx = context.WithValue(request.ctx, exchangeKey{}, &exchange{id: request.id})
	}
	return request
}

// describe returns the problem for an error and logs its cause.
func (a *API) describe(err error, request logged) problemBody {
	var failure *fault.Error
	var fromFiber *fiber.Error
	body := problemBody{Type: "about:blank", Status: http.StatusInternalServerError, Code: "internal", Detail: "Something went wrong.", RequestID: request.id}
	switch {
	case errors.As(err, &failure):
		body.Status, body.Code, body.Detail, body.Errors = outcomes[failure.Code].status, codeOf(failure), failure.Message, failure.Fields
	case errors.As(err, &fromFiber):
		refused := cmp.Or(refusals[fromFiber.Code], refusal{"invalid", "The request could not be read."})
		body.Status, body.Code, body.Detail = fromFiber.Code, refused.code, refused.detail
		err = fiber.NewError(fromFiber.Code) // its own text may quote the path
	}
	body.Title = http.StatusText(body.Status)
	level := slog.LevelInfo
	if body.Status >= 500 {
		level = slog.LevelError
	}
	a.Log.Log(request.ctx, level, "request failed", "method", request.method, "route", request.route, "status", body.Status, "error", err)
	// These quote the request or a row.
	var answer *postgrest.Error
	if len(body.Errors) > 0 {
		a.Log.DebugContext(request.ctx, "fields at fault", "fields", body.Errors)
	} else if errors.As(err, &answer) && answer.Details != "" {
		a.Log.DebugContext(request.ctx, "the database's details", "details", answer.Details)
	}
	return body
}

// codeOf returns the code that a client gets of a failure.
func codeOf(failure *fault.Error) string {
	return cmp.Or(string(failure.Reason), outcomes[failure.Code].code)
}

// retryAfter is in how many seconds a client may try again, 0 if a failure says nothing about that.
// It rounds up: with 0 a client would retry at once.
func retryAfter(err error) int {
	var failure *fault.Error
	if !errors.As(err, &failure) || failure.Code != fault.RateLimited && failure.Code != fault.Unavailable {
		return 0
	}
	return int(math.Ceil(cmp.Or(max(failure.RetryAfter, 0), defaultRetryAfter).Seconds()))
}
