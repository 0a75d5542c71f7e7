package api

import (
	"net/http"
	"reflect"

	"github.com/gofiber/fiber/v2"
)

// endpoint is a handler with the structs that it takes and gives, which the document describes.
type endpoint struct {
	handle       fiber.Handler
	takes, gives reflect.Type // nil: in openapi.yaml
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
	return endpoint{
		handle: func(c *fiber.Ctx) error {
			var request Q
			if err := readRequest(c, &request); err != nil {
				return err
			}
			return handle(c, &request)
		},
		takes: reflect.TypeFor[Q](), gives: reflect.TypeFor[R](),
	}
}

// list is the response of what lists all there is.
type list[T any] struct {
	Results []T `json:"results"`
}

// plain is an endpoint that openapi.yaml describes.
func plain(handle fiber.Handler) endpoint { return endpoint{handle: handle} }
