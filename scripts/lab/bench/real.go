package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/vector"
)

// Model embeds queries.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, cut []int, err error)
	EmbeddingModel() string
}

// Real measures recall, and the bounds of keyword search, on real tickets with human judgements,
// embedded by the same model as the queries.
type Real struct {
	Connection *pgx.Conn // of the owner, by Connect
	Model      Model
	Queries    []Judged
	Progress   func(string)
}

// Do measures and prints the tables.
func (r Real) Do(ctx context.Context, to io.Writer) error {
	var probes []Probe
	for _, query := range r.Queries {
		vectors, _, err := r.Model.Embed(ctx, r.Model.EmbeddingModel(), []string{query.Text})
		if err != nil {
			return fmt.Errorf("embed query: %w", err)
		}
		probes = append(probes, Probe{Embedding: encodeVector(vectors[0])})
	}
	where, err := about(ctx, r.Connection)
	if err != nil {
		return err
	}
	var chunks, tickets int
	err = r.Connection.QueryRow(ctx, `select count(*), count(distinct c.ticket_id) from public.chunks c where c.model = $1`, r.Model.EmbeddingModel()).Scan(&chunks, &tickets)
	if err != nil {
		return fmt.Errorf("count chunks: %w", err)
	}
	if chunks == 0 {
		return fmt.Errorf("the database holds no chunk of the model %s", r.Model.EmbeddingModel())
	}
	if _, err := fmt.Fprintf(to, "\n### %d chunks of %d real tickets, embedded by %s\n\n%s\n", chunks, tickets, r.Model.EmbeddingModel(), where); err != nil {
		return err
	}
	row, err := bound(ctx, r.Connection, fmt.Sprint(tickets), r.Queries, r.Progress)
	if err != nil {
		return err
	}
	candidates := Table{Title: "Keyword search by candidates, and of everything", Header: boundHeader, Rows: [][]string{row}, Caption: boundCaption}
	table, err := Recall(ctx, r.Connection, r.Model.EmbeddingModel(), probes, nil, r.Progress)
	if err != nil {
		return err
	}
	return print(to, []Table{table, candidates})
}
