package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Table is a table of the report. The first column is text, the others are numbers.
type Table struct {
	Title, Caption string
	Header         []string
	Rows           [][]string
}

// Print writes the table in Markdown, aligned for reading as plain text.
func (t Table) Print(to io.Writer) error {
	rule := append([]string{":--"}, slices.Repeat([]string{"--:"}, len(t.Header)-1)...)
	lines := slices.Concat([][]string{t.Header, rule}, t.Rows)
	widths := make([]int, len(t.Header))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	widths[0] = -widths[0] // to the left
	var out strings.Builder
	fmt.Fprintf(&out, "\n#### %s\n\n", t.Title)
	for _, line := range lines {
		for i, cell := range line {
			fmt.Fprintf(&out, "| %*s ", widths[i], cell)
		}
		out.WriteString("|\n")
	}
	if t.Caption != "" {
		out.WriteString("\n" + t.Caption + "\n")
	}
	_, err := io.WriteString(to, out.String())
	return err
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
