package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
)

// readBody reads a request's body, which fasthttp streams: what a client announced takes memory
// only as it comes, and a handler reads it only once the caller was admitted.
func readBody(c *fiber.Ctx) ([]byte, error) {
	stream, length := c.Context().RequestBodyStream(), c.Request().Header.ContentLength()
	if stream == nil { // none, or a tool's
		return c.Request().Body(), nil
	}
	if length > maxBodyBytes {
		return nil, brokenOff(c, fiber.ErrRequestEntityTooLarge)
	}
	body, err := io.ReadAll(io.LimitReader(stream, maxBodyBytes+1))
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, brokenOff(c, fiber.ErrRequestTimeout)
	case err != nil || len(body) < length:
		return nil, brokenOff(c, fiber.ErrBadRequest)
	case len(body) > maxBodyBytes:
		return nil, brokenOff(c, fiber.ErrRequestEntityTooLarge)
	default:
		return body, nil
	}
}

// brokenOff ends the connection after the response, as the rest of the body is not read.
func brokenOff(c *fiber.Ctx, err error) error {
	c.Context().SetConnectionClose()
	return err
}

// checkObject reports why a body is not a single JSON object of moderate size, without decoding it.
func checkObject(c *fiber.Ctx, body []byte) error {
	mediaType, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), fiber.MIMEApplicationJSON) {
		return fiber.ErrUnsupportedMediaType
	}
	// A compressed body could expand to any size.
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fiber.ErrUnsupportedMediaType
	}
	if !utf8.Valid(body) {
		return fault.New(fault.Invalid, "The request body is not valid UTF-8.")
	}
	if !json.Valid(body) {
		err := errors.New("it is not JSON")
		var syntax *json.SyntaxError
		var any json.RawMessage
		if errors.As(json.Unmarshal(body, &any), &syntax) {
			err = fmt.Errorf("at byte %d, %w", syntax.Offset, syntax)
		}
		return fault.Wrap(fault.Invalid, "The request body must be one JSON object: "+err.Error()+".", err)
	}
	if bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		return fault.New(fault.Invalid, "The request body must be one JSON object: it is of another type.")
	}
	if isCrowded(body) {
		return fault.New(fault.Invalid, fmt.Sprintf("The request body must have at most %d values, nested at most %d deep.", maxValues, maxDepth))
	}
	return nil
}

// isCrowded reports whether valid JSON has too many values or is nested too deeply. Decoded, a
// small value takes up to 40 times its text. A value follows a comma or a bracket.
func isCrowded(text []byte) bool {
	values, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			values++
			depth++
		case '}', ']':
			depth--
		case ',':
			values++
		}
		if values > maxValues || depth > maxDepth {
			return true
		}
	}
	return false
}
