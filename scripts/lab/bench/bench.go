// Package bench measures speed and recall on generated tickets: of the SQL functions beside plain
// pgvector and beside another checkout, of vector search beside an exact scan, and of the service
// under a load of hours. It owns the generated collection, the runs and their tables. It does not
// know how search works, nor where settings come from.
package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// Run measures a database with a generated collection.
type Run struct {
	Connection *pgx.Conn // of the owner, by Connect
	Collection Collection
	Queries    int      // number of queries per statement; recall uses a third of them
	Parts      []string // what to measure, from Parts
	Index      string   // the kind of vector index, from Indexes; "" leaves the one that is there
	Progress   func(step string)
}

// Parts are the names of the measurements.
var Parts = []string{"sql", "recall"}

// Do loads the collection if the database is empty, measures, and prints each table when it is
// complete.
func (r Run) Do(ctx context.Context, to io.Writer) error {
	index, err := r.Load(ctx)
	if err != nil {
		return err
	}
	where, err := about(ctx, r.Connection)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "\n### %d chunks of %d tickets with %d comments\n\n%s\n", r.Collection.Chunks(), r.Collection.Tickets(), r.Collection.Comments(), where); err != nil {
		return err
	}
	if err := index.Print(to); err != nil {
		return err
	}
	measures := map[string]func(context.Context) (Table, error){"sql": r.statements, "recall": r.recall}
	for _, part := range r.Parts {
		table, err := measures[part](ctx)
		if err == nil {
			err = table.Print(to)
		}
		if err != nil {
			return fmt.Errorf("measure %s: %w", part, err)
		}
	}
	return nil
}
