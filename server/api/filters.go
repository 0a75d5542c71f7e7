package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/querytext"
	"tasklens/internal/search"
)

// filtersMember is the "filters" object of a request, still undecoded.
type filtersMember struct {
	object []byte
	filter.Filters
}

// UnmarshalJSON keeps the raw object: check reports errors by the member's path, which
// encoding/json cannot.
func (m *filtersMember) UnmarshalJSON(object []byte) error {
	m.object = append([]byte{}, object...)
	return nil
}

func (m *filtersMember) check(wrong report) {
	if m != nil {
		m.Filters = filter.Decode("filters", m.object, func(path, message string) { wrong(true, path, "%s", message) })
	}
}

// of returns the filters of a request, or none if the member is absent.
func (m *filtersMember) of() filter.Filters {
	if m == nil {
		return filter.Filters{}
	}
	return m.Filters
}

// checkMe rejects "me" if the caller is not a user. For a token that is not verified yet, the
// database resolves the user.
func checkMe(c *fiber.Ctx, filters filter.Filters) error {
	member := filters.AsksForMe()
	caller := knownOf(c)
	hasUser := caller != nil && !caller.IsService() || caller == nil && c.Get(fiber.HeaderAuthorization) != ""
	if member == "" || hasUser {
		return nil
	}
	return fault.InvalidFields(fault.Field{Name: "filters." + member, Message: "has \"me\", which needs a user's token"})
}

// readAs reports how a query with filters in its text was parsed.
type readAs struct {
	Text    string         `json:"text"`
	Filters filter.Filters `json:"filters"`
	Nothing bool           `json:"nothing,omitempty"` // can pass them
}

// narrow parses the filters in a query's text and merges them with the "filters" member.
func narrow(c *fiber.Ctx, query *search.Query, beside filter.Filters) (*readAs, error) {
	text, typed, err := querytext.Read(query.Text, time.Now())
	if err == nil {
		query.Filters, err = filter.And(beside, typed)
	}
	if err != nil {
		return nil, fault.InvalidFields(fault.Field{Name: "query", Message: "cannot be joined with the other filters: " + err.Error()})
	}
	if err := checkMe(c, query.Filters); err != nil {
		return nil, err
	}
	query.Typed, query.Text = query.Text, text
	if query.Text == "" && query.Sort == search.Relevance {
		query.Sort = search.Newest
	}
	if typed.IsZero() {
		return nil, nil
	}
	return &readAs{Text: text, Filters: typed, Nothing: typed.Nothing}, nil
}
