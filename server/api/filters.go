package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/querytext"
	"tasklens/internal/search"
)

// filtersMember is "filters" of a request: an object that check reads.
type filtersMember struct {
	object []byte
	filter.Filters
}

// UnmarshalJSON keeps the object. What is wrong with it is told by the path of its members, as json
// cannot.
func (m *filtersMember) UnmarshalJSON(object []byte) error {
	m.object = append([]byte{}, object...)
	return nil
}

func (m *filtersMember) check(wrong report) {
	if m != nil {
		m.Filters = filter.Decode("filters", m.object, func(path, message string) { wrong(true, path, "%s", message) })
	}
}

// of gives the filters of a request, none where the member is absent.
func (m *filtersMember) of() filter.Filters {
	if m == nil {
		return filter.Filters{}
	}
	return m.Filters
}

// checkMe refuses "me" where no user asks. Of a token that nobody has verified the database says
// whose it is.
func checkMe(c *fiber.Ctx, filters filter.Filters) error {
	member := filters.AsksForMe()
	caller := knownOf(c)
	hasUser := caller != nil && !caller.IsService() || caller == nil && c.Get(fiber.HeaderAuthorization) != ""
	if member == "" || hasUser {
		return nil
	}
	return fault.InvalidFields(fault.Field{Name: "filters." + member, Message: "has \"me\", which needs a user's token"})
}

// readAs tells how a query was read that has filters in it.
type readAs struct {
	Text    string         `json:"text"`
	Filters filter.Filters `json:"filters"`
	Nothing bool           `json:"nothing,omitempty"` // can pass them
}

// narrow reads a query's text, and joins the filters in it with those beside it.
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
