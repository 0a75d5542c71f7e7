// Package internal holds the sources of the packages below it, so that the program knows what it
// was built from.
package internal

import "embed"

// Source is the Go of all packages below this folder.
//
//go:embed */*.go
var Source embed.FS
