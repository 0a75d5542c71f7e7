package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// moduleVersion is the version that a release was built from.
func moduleVersion() string {
	if build, known := debug.ReadBuildInfo(); known && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

// printVersion prints the module's version, the revision if the build recorded it, the digest of
// the sources, and the version of Go.
func printVersion(_ context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	digest, err := sourceDigest()
	if err != nil {
		return err
	}
	version, revision, goVersion := "(devel)", "", ""
	if build, known := debug.ReadBuildInfo(); known {
		version, goVersion = build.Main.Version, build.GoVersion
		for _, setting := range build.Settings {
			switch {
			case setting.Key == "vcs.revision":
				revision = " revision " + setting.Value
			case setting.Key == "vcs.modified" && setting.Value == "true":
				revision += " with changes"
			}
		}
	}
	_, err = fmt.Printf("tasklens %s%s source %.12s %s\n", version, revision, digest, goVersion)
	return err
}
