// Package rescue confines a panic to the work that panicked: that work returns an error and the
// process continues. Every goroutine of the service runs under it. The package counts panics and
// reports each with its stack. It does not know where they are logged.
package rescue

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"tasklens/internal/fault"
)

var (
	panics   atomic.Int64
	reporter atomic.Pointer[func(panicked any, stack []byte)]
)

// Do runs work and returns its panic as an internal error. Only the reporter gets the stack: errors
// are stored and sent to places that must not see it.
func Do(work func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			panics.Add(1)
			if report := reporter.Load(); report != nil {
				(*report)(panicked, debug.Stack())
			}
			err = fault.Wrap(fault.Internal, "Something went wrong.", fmt.Errorf("panic: %v", panicked))
		}
	}()
	return work()
}

// Go runs work on a new goroutine whose error nobody waits for.
func Go(work func()) {
	go func() {
		_ = Do(func() error {
			work()
			return nil
		})
	}()
}

// Report sets the function that receives every later panic of the process. It is called on the
// goroutine that panicked.
func Report(report func(panicked any, stack []byte)) { reporter.Store(&report) }

// Count returns the number of panics since the process started.
func Count() int64 { return panics.Load() }
