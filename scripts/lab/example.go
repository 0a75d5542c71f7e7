package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"tasklens/scripts/lab/examples"
)

// tryExamples runs the examples of README.md and docs/ in the current folder: those marked "run".
// The others need a hosted project, a key, or the reader's own files.
func tryExamples(ctx context.Context, config settings, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	service, err := url.Parse(config.ServiceURL)
	if err != nil || service.Host == "" {
		return errors.New("SERVICE_URL must be the address of a service")
	}
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		return err
	}
	return examples.Run{Root: ".", Service: service.Host}.Do(ctx, append([]string{"README.md"}, files...), os.Stdout)
}
