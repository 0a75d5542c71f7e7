package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/search"
	"tasklens/internal/ticketfile"
)

type batchRequest struct {
	Items   batchItems     `json:"items"`
	Filters *filtersMember `json:"filters"`
	Limit   *int           `json:"limit"`
}

// batchItems are kept undecoded, so that an invalid item gets an error of its own.
type batchItems struct{ all []json.RawMessage }

// UnmarshalJSON keeps the elements of a list.
func (b *batchItems) UnmarshalJSON(list []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(list))
	if first, err := decoder.Token(); err != nil || first != json.Delim('[') {
		return err // no list has no elements, which is too few
	}
	// One too many is enough to refuse it.
	for b.all = nil; len(b.all) <= maxBatch && decoder.More(); {
		var item json.RawMessage
		if err := decoder.Decode(&item); err != nil {
			return err
		}
		b.all = append(b.all, item)
	}
	return nil
}

// batchItem is a ticket or a draft.
type batchItem struct {
	TicketKey *string `json:"ticket_key"`
	Text      *string `json:"text"`
	ProjectID *int64  `json:"project_id"`
}

func (r *batchRequest) check(wrong report) {
	wrong(len(r.Items.all) < 1 || len(r.Items.all) > maxBatch, "items", "must be a list of 1 to %d objects", maxBatch)
	r.Filters.check(wrong)
	checkRange(wrong, "limit", r.Limit, 1, maxLimit)
}

// read decodes and validates an item.
func (batchRequest) read(raw json.RawMessage) (search.Compared, error) {
	var item batchItem
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&item); err != nil || raw[0] != '{' {
		return search.Compared{}, fault.New(fault.Invalid, "An item is an object with ticket_key, or with text and, if it is to narrow, project_id.")
	}
	key, text := or(item.TicketKey, ""), or(item.Text, "")
	var reasons []string
	wrong := func(bad bool, field, format string, args ...any) {
		if bad {
			reasons = append(reasons, field+" "+fmt.Sprintf(format, args...)+".")
		}
	}
	switch {
	case item.TicketKey != nil && (item.Text != nil || item.ProjectID != nil):
		wrong(true, "ticket_key", "must not be combined with text or project_id")
	case item.TicketKey != nil:
		checkLength(wrong, "ticket_key", &key, ticketfile.MaxKey)
	default:
		checkLength(wrong, "text", &text, maxDraftCharacters)
	}
	checkID(wrong, "project_id", item.ProjectID)
	wrong(strings.ContainsRune(key+text, 0), "text", "must not contain U+0000")
	if len(reasons) > 0 {
		return search.Compared{}, fault.New(fault.Invalid, reasons[0])
	}
	return search.Compared{TicketKey: key, Text: text, ProjectID: item.ProjectID}, nil
}

type batchResponse struct {
	Items []batchOutcome `json:"items"`
}

// batchOutcome has results or an error.
type batchOutcome struct {
	Results []search.Similar `json:"results,omitzero"`
	Error   *batchError      `json:"error,omitempty"`
}

type batchError struct {
	Code   string `json:"code"` // of a problem
	Detail string `json:"detail"`
}

// similarToMany finds likely duplicates of several tickets and drafts. Each item counts as one
// request against the rate limit. The whole request fails if upstream failures left no item
// compared.
func (a *API) similarToMany(c *fiber.Ctx) error {
	var request batchRequest
	if err := readRequest(c, &request); err != nil {
		return err
	}
	if err := checkMe(c, request.Filters.of()); err != nil {
		return err
	}
	if err := a.countMore(c, len(request.Items.all)-1); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	model, err := a.Serving.Use(c.UserContext())
	if err != nil {
		return err
	}
	outcomes := make([]search.Outcome, len(request.Items.all))
	var good []search.Compared
	var places []int
	for i, raw := range request.Items.all {
		item, err := request.read(raw)
		if err != nil {
			outcomes[i].Err = err
			continue
		}
		good, places = append(good, item), append(places, i)
	}
	if len(good) > 0 {
		compared, err := a.Comparer.ToMany(c.UserContext(), db, model, good, request.Filters.of(), or(request.Limit, defaultSimilar))
		if err != nil {
			return err
		}
		for i, outcome := range compared {
			outcomes[places[i]] = outcome
		}
	}
	return a.writeBatch(c, outcomes)
}

func (a *API) writeBatch(c *fiber.Ctx, outcomes []search.Outcome) error {
	response := batchResponse{Items: make([]batchOutcome, len(outcomes))}
	var upstream error // the failure of items that are not themselves invalid
	done := 0
	for i, outcome := range outcomes {
		var failure *fault.Error
		switch {
		case outcome.Err == nil:
			done++
			response.Items[i].Results = outcome.Results
		case errors.As(outcome.Err, &failure):
			response.Items[i].Error = &batchError{codeOf(failure), failure.Message}
			if failure.Code != fault.Invalid && failure.Code != fault.NotFound {
				upstream = outcome.Err
			}
		default:
			return outcome.Err
		}
	}
	if upstream != nil {
		if done == 0 {
			return upstream
		}
		a.Log.WarnContext(c.UserContext(), "some of a batch could not be compared", "error", upstream)
	}
	return c.JSON(response)
}
