package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/clean"
	"tasklens/internal/fault"
)

// Limits on the JSON that is decoded, whatever its size. Decoded, a small value takes up to 40
// times its text.
const (
	maxTokens = 4000 // names, values and brackets
	maxDepth  = 32   // of lists and objects
)

// readObject reads a request's body, which must be one JSON object. It returns nil if there is none
// and need not be one.
func readObject(c *fiber.Ctx, isOptional bool) ([]byte, error) {
	body, err := readBody(c)
	if err != nil || len(body) == 0 && isOptional {
		return nil, err
	}
	mediaType, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), fiber.MIMEApplicationJSON) {
		return nil, fiber.ErrUnsupportedMediaType
	}
	// A compressed body could expand to any size.
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fiber.ErrUnsupportedMediaType
	}
	switch field, problem := checkObject(body); {
	case field != "":
		return nil, fault.InvalidFields(fault.Field{Name: clean.ClipBytes(field, maxFieldName), Message: problem})
	case problem != "":
		return nil, fault.New(fault.Invalid, "The request body must be one JSON object: "+problem+".")
	}
	return body, nil
}

// readBody reads a body, which fasthttp streams: what a client announced takes memory only as it
// comes, and a handler reads it only once the caller was admitted.
func readBody(c *fiber.Ctx) ([]byte, error) {
	stream, length := c.Context().RequestBodyStream(), c.Request().Header.ContentLength()
	if stream == nil {
		return c.Request().Body(), nil
	}
	if length > maxBodyBytes {
		return nil, tooLarge(c, stream)
	}
	body, err := io.ReadAll(io.LimitReader(stream, maxBodyBytes+1))
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, brokenOff(c, fiber.ErrRequestTimeout)
	case err != nil || len(body) < length:
		return nil, brokenOff(c, fiber.ErrBadRequest)
	case len(body) > maxBodyBytes:
		return nil, tooLarge(c, stream)
	default:
		return body, nil
	}
}

// How much of a body that is too large is read, and for how long: a client that sends all of it
// before it reads would not see the response.
const (
	unreadBytes = 64 << 20
	unreadTime  = 2 * time.Second
)

func tooLarge(c *fiber.Ctx, stream io.Reader) error {
	if c.Context().Conn().SetReadDeadline(time.Now().Add(unreadTime)) == nil {
		_, _ = io.CopyN(io.Discard, stream, unreadBytes)
	}
	return brokenOff(c, fiber.ErrRequestEntityTooLarge)
}

// brokenOff ends the connection after the response, as the rest of the body is not read.
func brokenOff(c *fiber.Ctx, err error) error {
	c.Context().SetConnectionClose()
	return err
}

// checkObject reports why a text is not one JSON object of moderate size that can be stored, and
// the member at fault, if it is one. A name given twice, half of a surrogate pair and invalid
// UTF-8 are faults, which encoding/json would hide.
func checkObject(text []byte) (field, problem string) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(text))
	for count := 0; ; count++ {
		outside := decoder.StackDepth() == 0
		token, err := decoder.ReadToken()
		var syntax *jsontext.SyntacticError
		switch {
		case count == 0 && err == nil && token.Kind() != '{':
			return "", "it is of another type"
		case errors.Is(err, io.EOF) && count > 0:
			return "", ""
		case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
			return dotted(syntax.JSONPointer), "is given twice"
		case errors.As(err, &syntax) && syntax.JSONPointer != "":
			return dotted(syntax.JSONPointer), "is not valid JSON: " + syntax.Err.Error()
		case errors.As(err, &syntax):
			return "", fmt.Sprintf("at byte %d, %v", syntax.ByteOffset, syntax.Err)
		case err != nil:
			return "", "it is not JSON"
		case count > 0 && outside:
			return "", "something follows it"
		case count >= maxTokens || decoder.StackDepth() > maxDepth:
			return "", fmt.Sprintf("it must have at most %d names, values and brackets, nested at most %d deep", maxTokens, maxDepth)
		case token.Kind() == '"' && strings.ContainsRune(token.String(), 0): // which Postgres cannot store
			return dotted(decoder.StackPointer()), "must not contain U+0000"
		}
	}
}

// dotted is the path to a member as in filters.labels[0].
func dotted(pointer jsontext.Pointer) (path string) {
	for name := range pointer.Tokens() {
		if _, err := strconv.Atoi(name); err == nil {
			path += "[" + name + "]"
		} else {
			path += "." + name
		}
	}
	return strings.TrimPrefix(path, ".")
}
