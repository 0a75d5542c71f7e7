package conformance_test

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"time"
)

// mask replaces what differs in each run: UUIDs, numbered in the order of their appearance, recent
// times, the tags that fence texts for models, and local addresses. Of a problem it also replaces
// what is written for people.
type mask map[string]string // by UUID

var (
	uuids  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|[+-]\d\d:\d\d)`)
	hosts  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	fences = regexp.MustCompile(`(</?data)-[0-9a-f]+`)
)

func (m mask) text(s string) string {
	s = uuids.ReplaceAllStringFunc(s, func(id string) string {
		if m[id] == "" {
			m[id] = fmt.Sprintf("<id %d>", len(m)+1)
		}
		return m[id]
	})
	s = times.ReplaceAllStringFunc(s, func(written string) string {
		if at, err := time.Parse(time.RFC3339, written); err == nil && time.Since(at).Abs() < time.Hour {
			return "<now>"
		}
		return written
	})
	s = fences.ReplaceAllString(s, "$1")
	return hosts.ReplaceAllString(s, "<host>")
}

func (m mask) value(v any) any {
	switch v := v.(type) {
	case string:
		return m.text(v)
	case float64:
		return math.Round(v*1e7) / 1e7
	case []any:
		for i := range v {
			v[i] = m.value(v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] != nil && forPeople(name, v) {
				v[name] = "<text>"
			} else {
				v[name] = m.value(v[name])
			}
		}
	}
	return v
}

// forPeople reports whether a member is a problem's or an error's text or id.
func forPeople(name string, of map[string]any) bool {
	_, problem := of["code"]
	_, field := of["field"]
	switch name {
	case "title", "detail", "request_id":
		return problem
	case "message":
		return problem || field
	}
	return false
}
