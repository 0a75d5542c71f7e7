package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// fault is an error as PostgREST words it, ready to be sent.
type fault struct {
	status    int
	code      string // a SQLSTATE, or PGRST and three digits
	message   string
	details   string // null if empty
	hint      string // null if empty
	challenge string // WWW-Authenticate; none if empty
}

func (f fault) Error() string { return f.code + ": " + f.message }

// answer writes the fault as JSON.
func (f fault) answer() answer {
	null := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	// Strings always encode.
	_ = enc.Encode(struct {
		Code    string  `json:"code"`
		Details *string `json:"details"`
		Hint    *string `json:"hint"`
		Message string  `json:"message"`
	}{f.code, null(f.details), null(f.hint), f.message})
	a := answer{status: f.status, body: bytes.TrimSpace(body.Bytes()), header: map[string]string{
		"Content-Type": jsonType,
		"Proxy-Status": "PostgREST; error=" + f.code,
	}}
	if f.challenge != "" {
		a.header["WWW-Authenticate"] = f.challenge
	}
	return a
}

// explain converts an error, also of the database or the connection, into a fault.
func (g *Gateway) explain(err error, who caller) fault {
	var (
		ours    fault
		connect *pgconn.ConnectError
		pg      *pgconn.PgError
	)
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.Is(err, errPoolBusy):
		return fault{status: http.StatusGatewayTimeout, code: "PGRST003", message: "Timed out acquiring connection from connection pool."}
	case errors.As(err, &connect): // before PgError, which it may wrap
		// The error names host, user and database, but never the password.
		return fault{status: http.StatusServiceUnavailable, code: "PGRST000", message: "Database connection error. Retrying the connection.", details: connect.Error()}
	case errors.As(err, &pg):
		// Go takes half a surrogate pair for JSON.
		if pg.Code == "22P02" && strings.HasSuffix(pg.Message, "type json") && strings.Contains(pg.Detail, "surrogate") {
			return invalidBody
		}
		f := fault{status: statusOf(pg, who.anonymous), code: pg.Code, message: pg.Message, details: pg.Detail, hint: pg.Hint}
		if f.status == http.StatusUnauthorized {
			f.challenge = "Bearer"
		}
		if strings.HasPrefix(pg.Code, "57P") {
			g.pool.Reset() // the server is shutting down, which ends all connections
		}
		return f
	}
	g.pool.Reset()
	return fault{status: http.StatusServiceUnavailable, code: "PGRST001", message: "Database client error. Retrying the connection."}
}

// statusOf is the table of https://docs.postgrest.org/en/v14/references/errors.html.
func statusOf(e *pgconn.PgError, anonymous bool) int {
	switch e.Code {
	case "23503", "23505": // foreign_key_violation, unique_violation
		return http.StatusConflict
	case "25006": // read_only_sql_transaction
		return http.StatusMethodNotAllowed
	case "21000": // cardinality_violation; pg-safeupdate uses it for a client's fault
		if strings.HasSuffix(e.Message, "requires a WHERE clause") {
			return http.StatusBadRequest
		}
		return http.StatusInternalServerError
	case "22023": // invalid_parameter_value, also raised for the token's role
		if strings.HasPrefix(e.Message, "role") && strings.HasSuffix(e.Message, "does not exist") {
			return http.StatusUnauthorized
		}
		return http.StatusBadRequest
	case "42883", "42P01": // undefined_function, undefined_table
		return http.StatusNotFound
	case "42P17": // infinite recursion
		return http.StatusInternalServerError
	case "42501": // insufficient_privilege
		if anonymous {
			return http.StatusUnauthorized
		}
		return http.StatusForbidden
	case "53400": // configuration_limit_exceeded
		return http.StatusInternalServerError
	case "57P01": // admin_shutdown
		return http.StatusServiceUnavailable
	case "P0001": // raise_exception
		return http.StatusBadRequest
	}
	if digits, ok := strings.CutPrefix(e.Code, "PT"); ok {
		status, err := strconv.Atoi(digits)
		if err != nil || status < 200 || status > 599 {
			return http.StatusInternalServerError
		}
		return status
	}
	if len(e.Code) == 5 {
		if status, ok := statusOfClass[e.Code[:2]]; ok {
			return status
		}
	}
	return http.StatusBadRequest
}

// statusOfClass maps SQLSTATE classes (two characters) to statuses. Unlisted classes are the
// client's fault, 400.
var statusOfClass = map[string]int{
	"08": http.StatusServiceUnavailable,  // connection exception
	"09": http.StatusInternalServerError, // triggered action exception
	"0L": http.StatusForbidden,           // invalid grantor
	"0P": http.StatusForbidden,           // invalid role specification
	"25": http.StatusInternalServerError, // invalid transaction state
	"28": http.StatusForbidden,           // invalid authorization specification
	"2D": http.StatusInternalServerError, // invalid transaction termination
	"38": http.StatusInternalServerError, // external routine exception
	"39": http.StatusInternalServerError, // external routine invocation
	"3B": http.StatusInternalServerError, // savepoint exception
	"40": http.StatusInternalServerError, // transaction rollback; never tried again here
	"53": http.StatusServiceUnavailable,  // insufficient resources
	"54": http.StatusInternalServerError, // program limit exceeded
	"55": http.StatusInternalServerError, // object not in prerequisite state
	"57": http.StatusInternalServerError, // operator intervention
	"58": http.StatusInternalServerError, // system error
	"F0": http.StatusInternalServerError, // configuration file error
	"HV": http.StatusInternalServerError, // foreign data wrapper error
	"P0": http.StatusInternalServerError, // PL/pgSQL error
	"XX": http.StatusInternalServerError, // internal error
}
