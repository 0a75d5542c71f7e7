package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// A problem is an error in OpenAI's format.
type problem struct {
	status  int
	code    string // such as model_not_found; null in JSON if empty
	param   string // the invalid field; null if empty
	message string
}

func (p *problem) Error() string { return p.message }

func invalid(param, format string, args ...any) *problem {
	return &problem{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

func modelNotFound(model string) *problem {
	return &problem{
		status: http.StatusNotFound, code: "model_not_found", param: "model",
		message: fmt.Sprintf("The model %q does not exist here; there are %s and %s.", shortened(model), EmbeddingModel, ChatModel),
	}
}

func shortened(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

type problemBody struct {
	Error problemFields `json:"error"`
}

type problemFields struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func writeProblem(w http.ResponseWriter, p *problem) {
	writeJSON(w, p.status, problemBody{problemFields{
		Message: p.message, Type: "invalid_request_error", Param: optional(p.param), Code: optional(p.code),
	}})
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

// maxBody is the maximum size of a request, enough for 300,000 tokens of English as escaped JSON.
const maxBody = 8 << 20

// readJSON decodes the body, a single JSON object. Unsupported fields are ignored.
func readJSON(w http.ResponseWriter, r *http.Request, into any) *problem {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	err := decoder.Decode(into)
	if err == nil {
		if _, err = decoder.Token(); err == io.EOF {
			return nil
		} else if err == nil {
			err = errors.New("data after the object")
		}
	}
	var tooLarge *http.MaxBytesError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &tooLarge):
		return &problem{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("The request is larger than %d bytes.", maxBody)}
	case errors.As(err, &wrongType):
		return invalid(wrongType.Field, "Invalid type for '%s': got %s.", wrongType.Field, wrongType.Value)
	}
	return invalid("", "We could not parse the JSON body of your request: %v.", err)
}
