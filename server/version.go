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

// builtFrom is the revision set at link time, else the module's version, or "" if the source is
// unknown or had uncommitted changes.
func builtFrom() string {
	module := moduleVersion()
	if module == "(devel)" || strings.HasSuffix(module, "+dirty") {
		module = ""
	}
	return cmp.Or(revision, module)
}

// printVersion prints the version, the revision if the build has one, and the version of Go.
func printVersion(_ context.Context, args []string) error {
	if err := parse(newFlags("version"), args, 0); err != nil {
		return err
	}
	_, err := fmt.Printf("tasklens %s revision %s %s\n", version(), cmp.Or(builtFrom(), "unknown"), runtime.Version())
	return err
}
