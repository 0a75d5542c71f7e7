package chaos

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/web"
)

// editor edits tickets directly in the database, as a tracker would, and records committed edits.
type editor struct {
	url    string
	ids    []int64
	dead   int              // jobs, in the beginning
	last   map[int64]string // last known text of each ticket; "" if the outcome of a commit is unknown
	edits  int
	number int
}

const editPatience = 5 * time.Second

func newEditor(ctx context.Context, url string) (*editor, error) {
	e := &editor{url: url, last: map[int64]string{}}
	err := e.connected(ctx, func(ctx context.Context, db *pgx.Conn) error {
		rows, err := db.Query(ctx, `select ticket_id from public.tickets order by ticket_id limit 50`)
		if err != nil {
			return err
		}
		if e.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
			return err
		}
		return db.QueryRow(ctx, `select count(*) from tasklens.embedding_jobs where dead_at is not null`).Scan(&e.dead)
	})
	if err == nil && len(e.ids) == 0 {
		err = fmt.Errorf("there are no tickets to edit")
	}
	return e, err
}

func (e *editor) connected(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, editPatience)
	defer cancel()
	db, err := pgx.Connect(ctx, e.url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer db.Close(context.WithoutCancel(ctx))
	return do(ctx, db)
}

// edit changes a ticket five times a second, whatever fails.
func (e *editor) edit(ctx context.Context) {
	for ; ctx.Err() == nil; e.number++ {
		id := e.ids[e.number%len(e.ids)]
		said := fmt.Sprintf("quixotic%dzebra", e.number)
		err := e.connected(ctx, func(ctx context.Context, db *pgx.Conn) error {
			_, err := db.Exec(ctx, `update public.tickets set description = $2 where ticket_id = $1`, id, "The "+said+" was seen here.")
			return err
		})
		e.last[id] = ""
		if err == nil {
			e.last[id] = said
			e.edits++
		}
		if wait.For(ctx, 200*time.Millisecond) != nil {
			return
		}
	}
}

// check waits until the queue is empty and returns edits that keyword or vector search does not
// find.
func (e *editor) check(ctx context.Context, service string, within time.Duration) (lost []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		var status struct {
			Pending, Running, Failed, Dead int
			SourcesWithoutChunks           int `json:"sources_without_chunks"`
		}
		err := web.Call(ctx, http.MethodGet, service+"/api/embeddings/status", nil, &status)
		if err == nil && status.Dead > e.dead {
			return []string{fmt.Sprintf("%d dead jobs", status.Dead-e.dead)}, nil
		}
		if err == nil && status.Pending+status.Running+status.Failed+status.SourcesWithoutChunks == 0 {
			break
		}
		if wait.For(ctx, 200*time.Millisecond) != nil {
			return nil, fmt.Errorf("the queue is not empty after %v: %+v, %v", within, status, err)
		}
	}
	for id, said := range e.last {
		if said == "" {
			continue
		}
		var found struct {
			Results []struct {
				TicketID  *int64   `json:"ticket_id"`
				Text      string   `json:"text"`
				MatchedBy []string `json:"matched_by"`
			}
		}
		if err := web.Call(ctx, http.MethodPost, service+"/api/hybrid-search", map[string]any{"query": said, "limit": 1}, &found); err != nil {
			return nil, err
		}
		if len(found.Results) == 0 || found.Results[0].TicketID == nil || *found.Results[0].TicketID != id || !strings.Contains(found.Results[0].Text, said) {
			lost = append(lost, fmt.Sprintf("a search for ticket %d does not return %q: %+v", id, said, found.Results))
		}
	}
	return lost, nil
}
