// Package rescue confines a panic to the piece of work that panicked: the work fails with an error and the program lives
// on. Every goroutine of the service runs its work under it. It counts panics and reports each with its stack; it must not
// know where they are logged.
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

// Do runs work and turns its panic into an internal error. The stack goes to the reporter alone: errors are stored and
// sent to places that must not see it.
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

// Go runs work on a goroutine of its own, where nobody waits for an error.
func Go(work func()) {
	go func() {
		_ = Do(func() error {
			work()
			return nil
		})
	}()
}

// Report makes report hear of every panic of the process from now on. It is called on the goroutine that panicked.
func Report(report func(panicked any, stack []byte)) { reporter.Store(&report) }

// Count is how many panics there were since the process began.
func Count() int64 { return panics.Load() }
