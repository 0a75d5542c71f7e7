package fault

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	limited := Wrap(Unavailable, "Later.", io.EOF)
	for _, c := range []struct {
		err  error
		want Code
	}{
		{limited, Unavailable},
		{fmt.Errorf("embed question: %w", limited), Unavailable},
		{Wrap(Timeout, "Outer.", limited), Timeout}, // the first in the chain
		{errors.Join(io.EOF, limited), Unavailable},
		{io.EOF, Internal},
		{nil, Internal},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("code of %v is %s, not %s", c.err, got, c.want)
		}
	}
	if !errors.Is(fmt.Errorf("read: %w", limited), io.EOF) {
		t.Error("the cause is lost")
	}
}

// The log text has code, message and cause. Clients see only Message and Fields.
func TestError(t *testing.T) {
	t.Parallel()
	err := Wrap(Unavailable, "The database is not reachable.", errors.New("connection refused"))
	if err.Error() != "unavailable: The database is not reachable.: connection refused" || strings.Contains(err.Message, "refused") {
		t.Errorf("error is %q, message %q", err, err.Message)
	}
	if got := InvalidFields(Field{"limit", "is too large"}, Field{"query", "is required"}).Error(); got !=
		"invalid: The request is not valid." {
		t.Errorf("error is %q", got)
	}
}
