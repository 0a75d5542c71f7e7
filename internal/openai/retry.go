package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3/option"
)

// quotaCode is the provider's code for an exhausted quota. It comes with status 429, but waiting
// does not help.
const quotaCode = "insufficient_quota"

// maxProblemBytes is how much of an error response is read to classify it.
const maxProblemBytes = 64 << 10

// dontRetry stops the library from retrying in vain: after an exhausted quota, or when the
// requested wait exceeds the request's deadline. The caller then gets the error at once.
func dontRetry(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	response, err := next(request)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	if response.StatusCode == http.StatusTooManyRequests {
		start, err := io.ReadAll(io.LimitReader(response.Body, maxProblemBytes))
		if err != nil {
			return response, err
		}
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(start), response.Body), response.Body}
		var problem struct {
			Error struct {
				Code string `json:"code"`
				Type string `json:"type"`
			} `json:"error"`
		}
		if json.Unmarshal(start, &problem) == nil && (problem.Error.Code == quotaCode || problem.Error.Type == quotaCode) {
			response.Header.Set("x-should-retry", "false")
		}
	}
	if deadline, ok := request.Context().Deadline(); ok {
		wait, said := retryAfter(response.Header, time.Now())
		if !said {
			attempt, _ := strconv.Atoi(request.Header.Get("X-Stainless-Retry-Count"))
			wait = time.Duration(math.Exp2(float64(attempt)) * float64(500*time.Millisecond)) // the library's own backoff
		}
		if time.Until(deadline) <= min(wait, maxRetryDelay) {
			response.Header.Set("x-should-retry", "false")
		}
	}
	return response, nil
}

// retryAfter parses the wait that the provider asks for: in seconds, in milliseconds (OpenAI's own
// header) or as a date.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < math.MaxInt32 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < math.MaxInt32 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now), true
	}
	return 0, false
}
