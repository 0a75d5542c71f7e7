package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"tasklens/internal/fault"
	"tasklens/internal/filter"
)

// parameters parses the path and query of a request, strictly, and reports all errors together.
type parameters struct {
	c      *fiber.Ctx
	known  []string
	fields []fault.Field
}

func (p *parameters) wrong(bad bool, name, format string, args ...any) {
	if bad && len(p.fields) < maxReported {
		p.fields = append(p.fields, fault.Field{Name: clip(name), Message: fmt.Sprintf(format, args...)})
	}
}

// value returns a trimmed query parameter. A blank one counts as absent, because forms send empty
// fields. A repeated one is an error.
func (p *parameters) value(name string) (text string, given bool) {
	p.known = append(p.known, name)
	values := p.c.Context().QueryArgs().PeekMulti(name)
	if len(values) == 0 {
		return "", false
	}
	p.wrong(len(values) > 1, name, "must be given once")
	text = strings.TrimSpace(string(values[0]))
	return text, len(values) == 1 && text != ""
}

// filters parses a parameter that is a JSON object of filters.
func (p *parameters) filters(name string) filter.Filters {
	text, given := p.value(name)
	if !given {
		return filter.Filters{}
	}
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) {
		p.wrong(true, name, "must be a JSON object")
		return filter.Filters{}
	}
	return filtersOf(p.wrong, name, []byte(text))
}

// pathText returns a decoded text from the path.
func (p *parameters) pathText(name string) string {
	text, err := url.PathUnescape(p.c.Params(name))
	p.wrong(err != nil, name, "must be percent-encoded")
	p.storable(name, text)
	return text
}

func (p *parameters) storable(name, text string) {
	p.wrong(!utf8.ValidString(text), name, "must be valid UTF-8")
	p.wrong(strings.ContainsRune(text, 0), name, "must not contain U+0000")
}

// pathID parses the positive integer in the path: digits only, no sign, at
// most 64 bits.
func (p *parameters) pathID(name string) int64 {
	id, err := strconv.ParseUint(p.c.Params(name), 10, 63)
	p.wrong(err != nil || id < 1, name, "must be a positive integer")
	return int64(id)
}

func (p *parameters) pathUUID(name string) string {
	id := p.c.Params(name)
	p.wrong(!isUUID(id), name, "must be a UUID")
	return strings.ToLower(id)
}

// isUUID accepts only the canonical form, not braces or a URN.
func isUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }

// err returns all errors, unknown parameters first.
func (p *parameters) err() error {
	if err := noParameters(p.c, p.known...); err != nil {
		return err
	}
	if len(p.fields) > 0 {
		return fault.InvalidFields(p.fields...)
	}
	return nil
}
