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
		t.Errorf("a panic became %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "panic: boom") || strings.Contains(text, "goroutine") {
		t.Errorf("the error is %q", text)
	}
	if got := <-reports; got.panicked != "boom" || !strings.Contains(got.stack, "rescue_test.explode") {
		t.Errorf("reported was %+v", got)
	}

	rescue.Go(func() { _ = explode() })
	if got := <-reports; got.panicked != "boom" {
		t.Errorf("of a goroutine %+v was reported", got)
	}
	if panics := rescue.Count() - before; panics != 2 {
		t.Errorf("%d panics were counted", panics)
	}

	mine := errors.New("mine")
	if err := rescue.Do(func() error { return mine }); err != mine || rescue.Count()-before != 2 {
		t.Errorf("an error became %v", err)
	}
}

func explode() error { panic("boom") }
