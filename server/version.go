package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// release is the version that scripts/release builds. revision names the source that the program
// was built from, for builds outside a git checkout. Set them at link time: go build -ldflags "-X
// main.revision=$(git rev-parse HEAD)" ./server
var release, revision string

// version is the release or, in a git checkout, the commit that the program was built from.
func version() string { return cmp.Or(release, moduleVersion()) }

func moduleVersion() string {
	if build, known := debug.ReadBuildInfo(); known && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

// printVersion prints the version, the source that it was built from, unless that is unknown or had
// uncommitted changes, and the version of Go.
func printVersion(_ context.Context, args []string) error {
	if err := parse(newFlags("version"), args, 0); err != nil {
		return err
	}
	module := moduleVersion()
	if module == "(devel)" || strings.HasSuffix(module, "+dirty") {
		module = "unknown"
	}
	_, err := fmt.Printf("tasklens %s revision %s %s\n", version(), cmp.Or(revision, module), runtime.Version())
	return err
}
