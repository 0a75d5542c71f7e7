package api

import (
	"net/http"
	"reflect"

	"github.com/gofiber/fiber/v2"
)

// endpoint is a handler with what the document says of it: the structs that it takes and gives.
type endpoint struct {
	handle             fiber.Handler
	takes, gives, errs reflect.Type // errs: of failures that are no problems; nil: there are none
	media              []string     // of what it gives, where that is no JSON
	events             []eventKind  // of which it sends a stream, if asked to
}

// eventKind is a server-sent event by its name and the struct of its data.
type eventKind struct {
	name string
	data reflect.Type
}

// nothing is what a request has without parameters and body, and a response without a body.
type nothing struct{}

// answers is an endpoint that sends what its handler returns.
func answers[Q, R any](handle func(c *fiber.Ctx, request *Q) (R, error)) endpoint {
	return sends[Q, R](func(c *fiber.Ctx, request *Q) error {
		response, err := handle(c, request)
		if err != nil {
			return err
		}
		if _, is := any(response).(nothing); is {
			return c.SendStatus(http.StatusNoContent)
		}
		return c.JSON(response)
	})
}

// sends is an endpoint whose handler sends the response, or parts of it, by itself.
func sends[Q, R any](handle func(c *fiber.Ctx, request *Q) error) endpoint {
	return plain[Q, R, nothing](func(c *fiber.Ctx) error {
		var request Q
		if err := readRequest(c, &request); err != nil {
			return err
		}
		return handle(c, &request)
	})
}

// plain is an endpoint whose handler reads the request by itself, too.
func plain[Q, R, E any](handle fiber.Handler) endpoint {
	return endpoint{handle: handle, takes: reflect.TypeFor[Q](), gives: reflect.TypeFor[R](), errs: reflect.TypeFor[E]()}
}

// files is an endpoint that sends a file of one of these media types, whatever parameters it gets.
func files[Q any](handle fiber.Handler, media ...string) endpoint {
	e := plain[Q, nothing, nothing](handle)
	e.media = media
	return e
}

// streams says that an endpoint sends events, too.
func (e endpoint) streams(events []eventKind) endpoint {
	e.events = events
	return e
}

// list is the response of what lists all there is.
type list[T any] struct {
	Results []T `json:"results"`
}
