package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// loadText loads statuses, projects, tickets and their comments.
func loadText(ctx context.Context, connection *pgx.Conn, c Collection) error {
	for i, s := range statuses {
		if _, err := connection.Exec(ctx, `insert into public.status (status_id, name) values ($1, $2)`, i+1, s.name); err != nil {
			return fmt.Errorf("load statuses: %w", err)
		}
	}
	for project := 1; project <= len(projectShares)+singles; project++ {
		_, err := connection.Exec(ctx, `insert into public.projects (project_id, key, name) values ($1, $2, $3)`,
			project, fmt.Sprintf("B%d", project), words().words[topicsOf(project)[0]]+" "+words().words[common+project])
		if err != nil {
			return fmt.Errorf("load projects: %w", err)
		}
	}
	// A statement fires its triggers once, so keep it moderate.
	const batch = 2000
	for start := 0; start < c.Tickets(); start += batch {
		n := min(batch, c.Tickets()-start)
		_, err := connection.CopyFrom(ctx, pgx.Identifier{"public", "tickets"},
			[]string{"ticket_id", "key", "project_id", "status_id", "name", "description", "assignee", "ticket_type", "priority", "labels", "created_at", "updated_at", "due_date"},
			pgx.CopyFromSlice(n, func(i int) ([]any, error) {
				t := c.Ticket(start + i)
				a := c.attributes(start + i)
				return []any{
					int64(t.ID), t.Key(), int64(t.Project), int64(t.Status), t.Name, t.Description,
					a.assignee, a.kind, a.priority, a.labels, a.created, a.updated, a.due,
				}, nil
			}))
		if err != nil {
			return fmt.Errorf("load tickets: %w", err)
		}
		var comments [][]any
		for i := range n {
			t, written := c.Ticket(start+i), c.attributes(start+i).created
			for k, body := range t.Comments {
				comments = append(comments, []any{commentID(t, k), int64(t.ID), fmt.Sprintf("Person %d", k%7), body, written.Add(time.Duration(k+1) * time.Hour)})
			}
		}
		_, err = connection.CopyFrom(ctx, pgx.Identifier{"public", "comments"}, []string{"comment_id", "ticket_id", "author", "body", "created_at"}, pgx.CopyFromRows(comments))
		if err != nil {
			return fmt.Errorf("load comments: %w", err)
		}
	}
	return nil
}

// commentID returns the id of a ticket's comment k, from 0.
func commentID(t Ticket, k int) int64 { return int64(1000*t.ID + k) }

// loadVectors loads the chunks without their index and builds it afterwards, as usual for bulk
// loads.
func loadVectors(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) error {
	progress(fmt.Sprintf("loading %d chunks", c.Chunks()))
	var definition string
	if err := connection.QueryRow(ctx, `select pg_get_indexdef('public.chunks_embedding_idx'::regclass)`).Scan(&definition); err != nil {
		return fmt.Errorf("read the vector index: %w", err)
	}
	if _, err := connection.Exec(ctx, "drop index public.chunks_embedding_idx"); err != nil {
		return fmt.Errorf("drop the vector index: %w", err)
	}
	var rows [][]any
	next := 0
	_, err := connection.CopyFrom(ctx, pgx.Identifier{"public", "chunks"},
		[]string{"project_id", "ticket_id", "comment_id", "kind", "position", "text", "tokens", "input_hash", "model", "embedding"},
		pgx.CopyFromFunc(func() ([]any, error) {
			if len(rows) == 0 {
				if next == c.Tickets() {
					return nil, nil
				}
				rows = chunkRows(c.Ticket(next))
				next++
			}
			row := rows[0]
			rows = rows[1:]
			return row, nil
		}))
	if err != nil {
		return fmt.Errorf("load chunks: %w", err)
	}
	progress("building the vector index")
	// The graph must fit into memory, or building takes many times as long.
	megabytes := 256 + c.Chunks()*10/1000
	for _, statement := range []string{fmt.Sprintf("set maintenance_work_mem = '%dMB'", megabytes), "set max_parallel_maintenance_workers = 2", definition,
		"select tasklens.recount_sources()"} {
		if _, err := connection.Exec(ctx, statement); err != nil {
			return fmt.Errorf("build the vector index: %w", err)
		}
	}
	return nil
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
