package api

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/search"
)

type batchRequest struct {
	_ struct{} `schema:"SimilarBatchRequest" example:"{\"items\": [{\"ticket_key\": \"TX-400\"}, {\"text\": \"Charged twice\", \"project_id\": 1}], \"limit\": 3}"`

	Items   []json.RawMessage `json:"items" min:"1" max:"20" example:"[{\"ticket_key\": \"TX-400\"}, {\"text\": \"Charged twice\"}]" doc:"Each has ~ticket_key~, or ~text~ and perhaps ~project_id~. An item that is not valid gets an error of its own."`
	Filters filter.Filters    `json:"filters" default:""`
	Limit   int               `json:"limit" min:"1" max:"100" default:"5" doc:"Of each item."`
}

// batchItem is one of the items.
type batchItem struct{ search.Compared }

func (item *batchItem) check(wrong report) {
	wrong(item.TicketKey != nil && (item.Text != nil || item.ProjectID != nil), "ticket_key", "must not be combined with text or project_id")
	wrong(item.TicketKey == nil && item.Text == nil, "text", "is required, or ticket_key")
}

// readItem decodes and validates an item.
func readItem(raw json.RawMessage) search.Compared {
	var item batchItem
	if raw[0] != '{' {
		return search.Compared{Err: fault.New(fault.Invalid, "An item is an object with ticket_key, or with text and, if it is to narrow, project_id.")}
	}
	var failure *fault.Error
	if item.Err = readArguments(raw, &item); errors.As(item.Err, &failure) {
		item.Err = fault.New(fault.Invalid, failure.Fields[0].Name+" "+failure.Fields[0].Message+".")
	}
	return item.Compared
}

type batchResponse struct {
	_ struct{} `schema:"SimilarBatchResponse" example:"{\"items\": [{\"results\": []}, {\"error\": {\"code\": \"not_found\", \"detail\": \"There is no such ticket.\"}}]}"`

	Items []batchOutcome `json:"items" min:"1" max:"20"`
}

// batchOutcome has results or an error.
type batchOutcome struct {
	search.Outcome
	Error *batchError `json:"error,omitempty"`
}

type batchError struct {
	Code   string `json:"code" schema:"ProblemCode"`
	Detail string `json:"detail"`
}

// similarToMany finds likely duplicates of several tickets and drafts. Each item counts as one
// request against the rate limit. The whole request fails if upstream failures left no item
// compared.
func (a *API) similarToMany(c *fiber.Ctx, who *caller, request *batchRequest) error {
	if err := a.limitRate(c, who, len(request.Items)-1); err != nil {
		return err
	}
	ctx := c.UserContext()
	now, err := a.present(ctx, who, answer.Tickets)
	if err != nil {
		return err
	}
	items := make([]search.Compared, len(request.Items))
	for i, raw := range request.Items {
		items[i] = readItem(raw)
	}
	compared, err := a.Comparer.Compare(ctx, who.db, now.Model, items, request.Filters, request.Limit)
	if err != nil {
		return err
	}
	response := batchResponse{Items: make([]batchOutcome, len(items))}
	for i, outcome := range compared {
		response.Items[i].Outcome = outcome
	}
	if err := a.judge(ctx, response.Items); err != nil {
		return err
	}
	return c.JSON(response)
}

// judge writes the errors of items. It returns that of the upstream if no item was compared.
func (a *API) judge(ctx context.Context, items []batchOutcome) error {
	var upstream error // the failure of items that are not themselves invalid
	done := 0
	for i := range items {
		var failure *fault.Error
		switch err := items[i].Err; {
		case err == nil:
			done++
		case errors.As(err, &failure):
			items[i].Error = &batchError{codeOf(failure), failure.Message}
			if failure.Code != fault.Invalid && failure.Code != fault.NotFound {
				upstream = err
			}
		default:
			return err
		}
	}
	if upstream != nil && done > 0 {
		a.Log.WarnContext(ctx, "some of a batch could not be compared", "error", upstream)
		return nil
	}
	return upstream
}
