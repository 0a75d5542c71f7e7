// Package bench measures speed and recall: of the SQL functions compared with plain pgvector and
// the usual recipe, of the service over HTTP under load, and of vector search compared with an
// exact scan. It owns the generated collection, the runs and their report. It does not know how
// search works, nor where settings come from.
package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
)

// Run measures a database with a generated collection, and a service over it that uses the stand-in
// of NewModel.
type Run struct {
	Connection *pgx.Conn // of the owner, by Connect
	Collection Collection
	Documents  int           // number of documents to generate
	Service    Endpoint      // http://host:port
	Model      Endpoint      // the stand-in, with /v1
	Salt       int           // unique per run, so that new queries are not in any cache
	Queries    int           // number of queries per statement; recall uses a third of them
	Clients    []int         // numbers of closed-loop clients; answers use the largest
	Lasting    time.Duration // of each load
	Delays     Delays        // of the stand-in
	Parts      []string      // what to measure, from Parts
	Progress   func(step string)
}

// Parts are the names of the measurements.
var Parts = []string{"load", "sql", "recall", "filters", "permissions", "documents", "http", "answers"}

// Do loads the collection if the database is empty, measures, and prints each table when it is
// complete.
func (r Run) Do(ctx context.Context, to io.Writer) error {
	loaded, err := Load(ctx, r.Connection, r.Collection, r.Progress)
	if err != nil {
		return err
	}
	where, err := about(ctx, r.Connection)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "\n### %d chunks of %d tickets with %d comments\n\n%s\n", loaded.Chunks, loaded.Tickets, r.Collection.Comments(), where); err != nil {
		return err
	}
	measures := map[string]func(context.Context) ([]Table, error){
		"load": func(ctx context.Context) ([]Table, error) { return r.describe(ctx, loaded) },
		"sql":  r.statements, "recall": r.recall, "filters": r.filters, "permissions": r.permissions, "documents": r.documents, "http": r.service, "answers": r.answers,
	}
	for _, part := range r.Parts {
		tables, err := measures[part](ctx)
		if err != nil {
			return fmt.Errorf("measure %s: %w", part, err)
		}
		if err := print(to, tables); err != nil {
			return err
		}
	}
	return nil
}

// describe reports the time and size of the load.
func (r Run) describe(ctx context.Context, loaded Loaded) ([]Table, error) {
	index, err := readIndex(ctx, r.Connection)
	if err != nil {
		return nil, err
	}
	rows, err := sizes(ctx, r.Connection)
	if err != nil {
		return nil, err
	}
	kind := "32-bit"
	if index.half {
		kind = "16-bit"
	}
	return []Table{{
		Title: "Loading, and sizes", Header: []string{"what", "is"}, Rows: append([][]string{
			{"loading tickets, comments and their keyword entries", seconds(loaded.Text)},
			{"loading chunks (without the vector index)", seconds(loaded.Vectors)},
			{"building the vector index (" + kind + ") after that", seconds(loaded.Index)},
		}, rows...),
	}}, nil
}

func print(to io.Writer, tables []Table) error {
	for _, t := range tables {
		if err := t.Print(to); err != nil {
			return err
		}
	}
	return nil
}
