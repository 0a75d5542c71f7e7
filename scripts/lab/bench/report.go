package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// Table is a table of the report. The first column is text, the others are numbers.
type Table struct {
	Title, Caption string
	Header         []string
	Rows           [][]string
}

// Print writes the table in Markdown, aligned for reading as plain text.
func (t Table) Print(to io.Writer) error {
	widths := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n#### %s\n\n", t.Title)
	line := func(row []string) {
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				out.WriteString("| " + cell + gap)
			} else {
				out.WriteString(" | " + gap + cell)
			}
		}
		out.WriteString(" |\n")
	}
	line(t.Header)
	for i, width := range widths {
		if i == 0 {
			out.WriteString("|:" + strings.Repeat("-", width+1))
		} else {
			out.WriteString("|" + strings.Repeat("-", width+1) + ":")
		}
	}
	out.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
	if t.Caption != "" {
		out.WriteString("\n" + t.Caption + "\n")
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// quantiles returns the cells p50, p95 and p99 of some milliseconds.
func quantiles(values []float64) (cells []string) {
	for _, p := range []float64{0.5, 0.95, 0.99} {
		cells = append(cells, number(measure.Quantile(values, p)))
	}
	return cells
}

func number(x float64) string { return fmt.Sprintf("%.1f", x) }

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }

// about describes the machine and the date.
func about(ctx context.Context, connection *pgx.Conn) (string, error) {
	var postgres, pgvector string
	err := connection.QueryRow(ctx, `select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector')`).
		Scan(&postgres, &pgvector)
	if err != nil {
		return "", fmt.Errorf("read versions: %w", err)
	}
	return fmt.Sprintf("%s on %d processors (%s/%s), Postgres %s, pgvector %s.", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, strings.Fields(postgres)[0], pgvector), nil
}
