package main

import (
	"context"
	"os"
	"strings"

	"tasklens/server/mcp"
)

// serveStdio lets a program that starts its MCP servers itself, such as an editor, use the tools of
// a running service: it passes messages between its standard input and output and the service.
func serveStdio(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	address, token, err := readRemote()
	if err != nil {
		return err
	}
	return mcp.Forward(ctx, os.Stdin, os.Stdout, strings.TrimRight(address, "/")+"/mcp", token)
}
