package main

import (
	"context"
	"os"

	"tasklens/server/api"
)

// printDocument prints the API's document, as the service serves it at /openapi.yaml.
func printDocument(_ context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	text, _, err := api.Document()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
