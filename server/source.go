package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"tasklens/internal"
	"tasklens/server/console"
	"tasklens/supabase"
)

//go:embed *.go */*.go */*/*.go
var source embed.FS

// sourceDigest is a digest of everything the program is built from: its Go files, console,
// migrations and dependencies. It does not use the executable, because two builds of the same
// source differ by folder, cgo, the race detector and VCS stamps.
func sourceDigest() (string, error) {
	var dependencies []*debug.Module
	if build, known := debug.ReadBuildInfo(); known {
		dependencies = build.Deps
	}
	return digestOf(dependencies, source, internal.Source, console.Source(), supabase.Migrations())
}

func digestOf(dependencies []*debug.Module, folders ...fs.FS) (string, error) {
	digest := sha256.New()
	out := json.NewEncoder(digest)
	if err := out.Encode(dependencies); err != nil {
		return "", fmt.Errorf("read the program's dependencies: %w", err)
	}
	for _, folder := range folders {
		err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(folder, path)
			if err != nil {
				return err
			}
			return out.Encode([]any{path, text})
		})
		if err != nil {
			return "", fmt.Errorf("read the program's source: %w", err)
		}
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
