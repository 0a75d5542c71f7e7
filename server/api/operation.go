package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/memo"
)

// endpoint is what a route does, with what the document says of it: the structs that it takes and
// gives.
type endpoint struct {
	serve func(c *fiber.Ctx, who *caller) error // who is nil at an open route
	// call runs the operation for a tool, whose arguments are its parameters and the members of its
	// body; nil: tools may not call it.
	call               func(ctx context.Context, who *caller, arguments []byte) (any, error)
	takes, gives, errs reflect.Type // errs: of failures that are no problems
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

// created is a response about something that is new.
type created struct{ body any }

// operates is an endpoint of an operation: a function of its caller and a request that was read and
// checked. It returns an R, or one that is created, or one that the cache may have made.
func operates[Q, R any](run func(ctx context.Context, who *caller, request *Q) (any, error)) endpoint {
	e := sends[Q, R](func(c *fiber.Ctx, who *caller, request *Q) error {
		response, err := run(c.UserContext(), who, request)
		if err != nil {
			return err
		}
		return send(c, response)
	})
	e.call = func(ctx context.Context, who *caller, arguments []byte) (any, error) {
		var request Q
		if err := readArguments(arguments, &request); err != nil {
			return nil, err
		}
		return run(ctx, who, &request)
	}
	return e
}

// answers is an endpoint of an operation that always responds with an R, which is neither new nor
// from the cache.
func answers[Q, R any](run func(ctx context.Context, who *caller, request *Q) (R, error)) endpoint {
	return operates[Q, R](func(ctx context.Context, who *caller, request *Q) (any, error) { return run(ctx, who, request) })
}

// sends is an endpoint whose handler sends the response by itself.
func sends[Q, R any](handle func(c *fiber.Ctx, who *caller, request *Q) error) endpoint {
	return plain[Q, R, nothing](func(c *fiber.Ctx, who *caller) error {
		var request Q
		if err := readRequest(c, &request); err != nil {
			return err
		}
		return handle(c, who, &request)
	})
}

// plain is an endpoint whose handler reads the request by itself, too.
func plain[Q, R, E any](serve func(c *fiber.Ctx, who *caller) error) endpoint {
	return endpoint{serve: serve, takes: reflect.TypeFor[Q](), gives: reflect.TypeFor[R](), errs: reflect.TypeFor[E]()}
}

// files is an endpoint that sends a file of one of these media types, whatever parameters it gets.
func files[Q any](serve func(c *fiber.Ctx) error, media ...string) endpoint {
	e := plain[Q, nothing, nothing](func(c *fiber.Ctx, _ *caller) error { return serve(c) })
	e.media = media
	return e
}

// streams makes an endpoint send events, too.
func (e endpoint) streams(events []eventKind, serve endpoint) endpoint {
	e.events, e.serve = events, serve.serve
	return e
}

// send writes the response of an operation.
func send(c *fiber.Ctx, response any) error {
	switch response := response.(type) {
	case nothing:
		return c.SendStatus(http.StatusNoContent)
	case created:
		return c.Status(http.StatusCreated).JSON(response.body)
	case memo.Made:
		c.Set(headerCacheStatus, cacheStatuses[response.Origin])
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(response.Body)
	default:
		return c.JSON(response)
	}
}

// list is the response of what lists all there is.
type list[T any] struct {
	Results []T `json:"results"`
}

// listed makes a list of what was read.
func listed[T any](results []T, err error) (list[T], error) { return list[T]{results}, err }
