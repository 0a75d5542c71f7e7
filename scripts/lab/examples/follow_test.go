package examples

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Steps runs the steps of a page in order with query, which returns the printed rows, and reports
// failures. A failed step ends the page, because later ones depend on it.
func Steps(ctx context.Context, file, markdown string, query func(ctx context.Context, sql string) (string, error), out io.Writer) error {
	all := blocks(markdown)
	ran, wrong := 0, 0
	for i, b := range all {
		if !b.isStep() {
			continue
		}
		ran++
		printed, err := runOne(ctx, b, query)
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", file, b.line, b.name(), err)
		}
		if i+1 < len(all) && all[i+1].isOutput() {
			if err := sameText(all[i+1].text, printed); err != nil {
				wrong++
				fmt.Fprintf(out, "%s:%d: %s: %v\n", file, b.line, b.name(), err)
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d steps failed", wrong)
	}
	if ran == 0 {
		return errors.New("no steps found")
	}
	return nil
}

func runOne(ctx context.Context, b block, query func(ctx context.Context, sql string) (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return query(ctx, b.text)
}
