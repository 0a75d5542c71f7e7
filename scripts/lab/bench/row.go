package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// loadBatch is the number of tickets of a transaction. A statement fires its triggers once, so it
// is moderate.
const loadBatch = 2000

// loadText loads statuses, projects, tickets and their comments, after those that are there.
func loadText(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) error {
	for i, s := range statuses {
		if _, err := connection.Exec(ctx, `insert into public.status (status_id, name) values ($1, $2) on conflict do nothing`, i+1, s.name); err != nil {
			return fmt.Errorf("load statuses: %w", err)
		}
	}
	for project := 1; project <= len(projectShares)+singles; project++ {
		_, err := connection.Exec(ctx, `insert into public.projects (project_id, key, name) values ($1, $2, $3) on conflict do nothing`,
			project, fmt.Sprintf("B%d", project), words().words[topicsOf(project)[0]]+" "+words().words[common+project])
		if err != nil {
			return fmt.Errorf("load projects: %w", err)
		}
	}
	return inBatches(ctx, connection, c, `select coalesce(max(ticket_id), 0) from public.tickets`, func(tx pgx.Tx, from, to int) error {
		progress(fmt.Sprintf("loading tickets %d to %d of %d", from+1, to, c.Tickets()))
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"public", "tickets"},
			[]string{"ticket_id", "key", "project_id", "status_id", "name", "description", "assignee", "ticket_type", "priority", "labels", "created_at", "updated_at", "due_date"},
			pgx.CopyFromSlice(to-from, func(i int) ([]any, error) {
				t := c.Ticket(from + i)
				a := c.attributes(from + i)
				return []any{
					int64(t.ID), t.Key(), int64(t.Project), int64(t.Status), t.Name, t.Description,
					a.assignee, a.kind, a.priority, a.labels, a.created, a.updated, a.due,
				}, nil
			}))
		if err != nil {
			return fmt.Errorf("load tickets: %w", err)
		}
		var comments [][]any
		for i := from; i < to; i++ {
			t, written := c.Ticket(i), c.attributes(i).created
			for k, body := range t.Comments {
				comments = append(comments, []any{commentID(t, k), int64(t.ID), fmt.Sprintf("Person %d", k%7), body, written.Add(time.Duration(k+1) * time.Hour)})
			}
		}
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"public", "comments"}, []string{"comment_id", "ticket_id", "author", "body", "created_at"}, pgx.CopyFromRows(comments))
		if err != nil {
			return fmt.Errorf("load comments: %w", err)
		}
		return nil
	})
}

// inBatches loads the tickets from..to (from 0) of each batch in a transaction, so that a load that
// was interrupted goes on. last selects the id of the last ticket that is there.
func inBatches(ctx context.Context, connection *pgx.Conn, c Collection, last string, load func(tx pgx.Tx, from, to int) error) error {
	var from int
	if err := connection.QueryRow(ctx, last).Scan(&from); err != nil {
		return fmt.Errorf("look for what is loaded: %w", err)
	}
	for from < c.Tickets() {
		to := min(from+loadBatch, c.Tickets())
		if err := pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error { return load(tx, from, to) }); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// commentID returns the id of a ticket's comment k, from 0.
func commentID(t Ticket, k int) int64 { return int64(1000*t.ID + k) }

// loadVectors loads the chunks without their index, which is built afterwards, as usual for bulk
// loads.
func loadVectors(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) error {
	if _, err := connection.Exec(ctx, "drop index if exists public.chunks_embedding_idx"); err != nil {
		return fmt.Errorf("drop the vector index: %w", err)
	}
	return inBatches(ctx, connection, c, `select coalesce(max(ticket_id), 0) from public.chunks`, func(tx pgx.Tx, from, to int) error {
		progress(fmt.Sprintf("loading the chunks of tickets %d to %d of %d", from+1, to, c.Tickets()))
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		rows := make(chan []any, 1000) // made while others are stored
		go func() {
			defer close(rows)
			for i := from; i < to; i++ {
				for _, row := range chunkRows(c.Ticket(i)) {
					select {
					case rows <- row:
					case <-ctx.Done():
						return
					}
				}
			}
		}()
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"public", "chunks"},
			[]string{"project_id", "ticket_id", "comment_id", "kind", "position", "text", "tokens", "input_hash", "model", "embedding"},
			pgx.CopyFromFunc(func() ([]any, error) { return <-rows, ctx.Err() }))
		if err != nil {
			return fmt.Errorf("load chunks: %w", err)
		}
		return nil
	})
}

func chunkRows(t Ticket) (rows [][]any) {
	add := func(comment any, kind string, position int, text string) {
		sum := sha256.Sum256([]byte(text))
		rows = append(rows, []any{int64(t.Project), int64(t.ID), comment, kind, int32(position), text, int32(tokens(text)), hex.EncodeToString(sum[:]), model,
			encodeVector(embedChunk(text, t.Project, t.ID))})
	}
	for i, text := range t.Chunks {
		add(nil, "ticket", i, text)
	}
	for i, text := range t.Comments {
		add(commentID(t, i), "comment", 0, text)
	}
	return rows
}
