package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/measure"
)

// Keyword is the keyword search over two databases of different size.
type Keyword struct {
	Small, Large               *pgx.Conn // of the owner, by Connect
	SmallTickets, LargeTickets int
	Queries                    int
	Progress                   func(string)
}

// load fills both where they are empty.
func (k Keyword) load(ctx context.Context) (connections []*pgx.Conn, collections []Collection, err error) {
	connections, collections = []*pgx.Conn{k.Small, k.Large}, []Collection{WithTickets(k.SmallTickets), WithTickets(k.LargeTickets)}
	for i, connection := range connections {
		if _, err := Load(ctx, connection, collections[i], false, k.Progress); err != nil {
			return nil, nil, err
		}
	}
	return connections, collections, nil
}

// Bound compares the search with one that ranks everything, in both databases, and writes the table. What a query was
// made from is what it should find.
func (k Keyword) Bound(ctx context.Context, to io.Writer) error {
	connections, collections, err := k.load(ctx)
	if err != nil {
		return err
	}
	table := Table{Title: "Keyword search by candidates, and of everything", Header: boundHeader, Caption: boundCaption}
	for n, c := range collections {
		var queries []Judged
		for i := range k.Queries {
			q := c.Query(i)
			queries = append(queries, Judged{q.Text, measure.Judged{c.Ticket(q.ticket).Key(): 1}})
		}
		row, err := bound(ctx, connections[n], fmt.Sprint(c.Tickets()), queries, k.Progress)
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, row)
	}
	return table.Print(to)
}

// Time times both, query by query in turn, and writes the table.
func (k Keyword) Time(ctx context.Context, to io.Writer) error {
	connections, collections, err := k.load(ctx)
	if err != nil {
		return err
	}
	k.Progress("timing keyword search")
	v := variant{sql: fmt.Sprintf(`select * from public.search_by_keyword($1, %d)`, keywordCandidates), args: func(q asked) []any { return []any{q.text} }}
	took := make([][]float64, len(connections))
	warmUp := k.Queries / 10
	for i := range warmUp + k.Queries {
		for n, connection := range connections {
			once, err := timeStatement(ctx, connection, v, asked{text: collections[n].Query(i).Text})
			if err != nil {
				return fmt.Errorf("time keyword search: %w", err)
			}
			if i >= warmUp {
				took[n] = append(took[n], milliseconds(once))
			}
		}
	}
	table := Table{
		Title: "Keyword search by number of tickets, ms", Header: []string{"tickets", "p50", "p95", "p99"},
		Caption: fmt.Sprintf("search_by_keyword with %d results, %d queries each, in turn. Wanted: the p95 of the second at most twice that of the first; it is %s times that.",
			keywordCandidates, k.Queries, ratio(measure.Quantile(took[1], 0.95), measure.Quantile(took[0], 0.95))),
	}
	for n, values := range took {
		table.Rows = append(table.Rows, append([]string{fmt.Sprint(collections[n].Tickets())}, quantiles(values)...))
	}
	return table.Print(to)
}
