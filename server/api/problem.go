package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
)

// failure is what a client gets of a failure. A reason replaces its code, and the failure's own
// words its detail.
type failure struct {
	status int
	fault  fault.Code // "": a request that no handler has seen
	code   string     // stable, for programs
	detail string     // an example where there is a fault
}

// failures is the one table of errors. Clients rely on the codes: docs/api.md lists them, and a
// test compares all. operations.md describes the statuses.
var failures = []failure{
	{http.StatusBadRequest, fault.Invalid, "invalid", "The request is not valid."},
	{http.StatusUnauthorized, fault.Unauthorized, "token_invalid", "The access token is not valid."},
	{http.StatusForbidden, fault.Forbidden, "forbidden", "This is not allowed."},
	{http.StatusNotFound, fault.NotFound, "not_found", "There is no such ticket in this project."},
	{http.StatusNotFound, "", "path_not_found", "There is nothing at this path."},
	{http.StatusMethodNotAllowed, "", "method_not_allowed", "Method not allowed for this path."},
	{http.StatusRequestEntityTooLarge, "", "body_too_large", "The request body is over the limit of " + strconv.Itoa(maxBodyBytes) + " bytes."},
	{http.StatusUnsupportedMediaType, "", "unsupported_media_type", "The request body must be JSON (Content-Type: application/json) and not be compressed."},
	{http.StatusTooManyRequests, fault.RateLimited, "rate_limited", "Too many requests."},
	{http.StatusRequestHeaderFieldsTooLarge, "", "headers_too_large", "The request's headers are over the limit of " + strconv.Itoa(maxHeaderBytes) + " bytes."},
	{http.StatusInternalServerError, fault.Internal, "internal", "Something went wrong."},
	{http.StatusBadGateway, fault.Provider, "model_failed", "The model provider failed."},
	{http.StatusServiceUnavailable, fault.Unavailable, "unavailable", "The database is not reachable."},
	{http.StatusGatewayTimeout, fault.Timeout, "timeout", "The model provider did not answer in time."},
}

// failureOf returns the row of a fault or, without one, of a status.
func failureOf(code fault.Code, status int) failure {
	for _, f := range failures {
		if f.fault == code && (code != "" || f.status == status) {
			return f
		}
	}
	if code != "" { // too large for an upstream
		return failureOf(fault.Internal, 0)
	}
	return failure{status: status, code: "invalid", detail: "The request could not be read."}
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

	retryAfter int // seconds; 0: unknown
}

// problem responds with an error. The client gets only the error's message; the log gets the
// cause.
func (a *API) problem(c *fiber.Ctx, err error) error {
	if RequestID(c.UserContext()) == "" {
		a.begin(c) // it could not be read, so that none of our handlers has run
	}
	body := a.describe(c.UserContext(), err)
	if body.retryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(body.retryAfter))
	}
	if body.Status == http.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, a.challenge(c))
	}
	return c.Status(body.Status).JSON(body, "application/problem+json")
}

// describe returns the problem for an error of a request and logs its cause.
func (a *API) describe(ctx context.Context, err error) problemBody {
	err = a.stopping(err)
	request := exchangeOf(ctx)
	var failed *fault.Error
	var fromFiber *fiber.Error
	row := failureOf(fault.Internal, 0)
	switch {
	case errors.As(err, &failed):
		row = failureOf(failed.Code, 0)
		row.code, row.detail = cmp.Or(string(failed.Reason), row.code), failed.Message
	case errors.As(err, &fromFiber):
		row = failureOf("", fromFiber.Code)
		err = fiber.NewError(fromFiber.Code) // its own text may quote the path
	}
	body := problemBody{Type: "about:blank", Title: http.StatusText(row.status), Status: row.status, Code: row.code, Detail: row.detail, RequestID: request.id, retryAfter: retryAfter(err)}
	if failed != nil {
		body.Errors = failed.Fields
	}
	level := slog.LevelInfo
	if body.Status >= 500 {
		level = slog.LevelError
	}
	a.Log.Log(ctx, level, "request failed", "method", request.method, "route", request.route, "status", body.Status, "error", err)
	// These quote the request or a row.
	var answer *postgrest.Error
	if len(body.Errors) > 0 {
		a.Log.DebugContext(ctx, "fields at fault", "fields", body.Errors)
	} else if errors.As(err, &answer) && answer.Details != "" {
		a.Log.DebugContext(ctx, "the database's details", "details", answer.Details)
	}
	return body
}

// retryAfter is in how many seconds a client may try again, 0 if a failure says nothing about that.
func retryAfter(err error) int {
	var failure *fault.Error
	if !errors.As(err, &failure) || failure.Code != fault.RateLimited && failure.Code != fault.Unavailable {
		return 0
	}
	return wholeSeconds(cmp.Or(max(failure.RetryAfter, 0), defaultRetryAfter))
}
