package rescue_test

import (
	"errors"
	"strings"
	"testing"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

// This is one test because the reporter and the count are global to the process.
func TestPanic(t *testing.T) {
	type heard struct{ panicked, stack string }
	reports := make(chan heard, 1)
	rescue.Report(func(panicked any, stack []byte) { reports <- heard{panicked.(string), string(stack)} })
	before := rescue.Count()

	err := rescue.Do(explode)
	var failure *fault.Error
	if !errors.As(err, &failure) || failure.Code != fault.Internal || strings.Contains(failure.Message, "boom") {
		t.Errorf("a panic returned the error %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "panic: boom") || strings.Contains(text, "goroutine") {
		t.Errorf("the error is %q", text)
	}
	if got := <-reports; got.panicked != "boom" || !strings.Contains(got.stack, "rescue_test.explode") {
		t.Errorf("the report is %+v", got)
	}

	rescue.Go(func() { _ = explode() })
	if got := <-reports; got.panicked != "boom" {
		t.Errorf("the report of a goroutine's panic is %+v", got)
	}
	if panics := rescue.Count() - before; panics != 2 {
		t.Errorf("%d panics were counted, want 2", panics)
	}

	mine := errors.New("mine")
	if err := rescue.Do(func() error { return mine }); err != mine || rescue.Count()-before != 2 {
		t.Errorf("the function's own error was returned as %v", err)
	}
}

func explode() error { panic("boom") }
