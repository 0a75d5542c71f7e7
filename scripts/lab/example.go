package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/caarlos0/env/v11"

	"tasklens/scripts/lab/examples"
)

// exampleConfig are the settings of this verb: the demo that is running.
type exampleConfig struct {
	ServiceURL string `env:"SERVICE_URL,required"`
}

// elsewhere are the examples that need more than a demo, with the reason.
var elsewhere = map[string]string{}

// tryExamples runs the examples of README.md and docs/ of the folder that it runs in.
func tryExamples(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	config, err := env.ParseAs[exampleConfig]()
	if err != nil {
		return err
	}
	service, err := url.Parse(config.ServiceURL)
	if err != nil || service.Host == "" {
		return errors.New("SERVICE_URL must be the address of a service")
	}
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		return err
	}
	return examples.Run{Root: ".", Service: service.Host, Elsewhere: elsewhere}.Do(ctx, append([]string{"README.md"}, files...), os.Stdout)
}
