package enrich

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/chat"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
)

// patience bounds a test once it has its database, so that a deadlock fails it.
const patience = 5 * time.Minute

// model is a stand-in whose answers the test sets.
type model struct {
	say   func(ctx context.Context, title, content string) (chat.Completion, error)
	mutex sync.Mutex
	asked []string // titles
}

func (m *model) ChatModel() string { return "reader" }

func (m *model) CompleteJSON(ctx context.Context, _, message string, _ int, form chat.Schema) (chat.Completion, error) {
	var d struct{ Title, Content string }
	if err := json.Unmarshal([]byte(message), &d); err != nil || form.Name != schema.Name {
		return chat.Completion{}, err
	}
	m.mutex.Lock()
	m.asked = append(m.asked, d.Title)
	m.mutex.Unlock()
	return m.say(ctx, d.Title, d.Content)
}

// plain is a valid answer for any text.
const plain = `{"keywords": ["Pump "], "named_entities": [{"name": "Wiktor", "type": "person"}, {"name": "Atlantis", "type": "place"}], "temporal_class": "dated"}`

func answered(text string) (chat.Completion, error) {
	return chat.Completion{Text: text, Model: "reader-2", Finish: "stop"}, nil
}

// shelf is a database with documents, accessed as the service.
type shelf struct {
	t     *testing.T
	ctx   context.Context
	owner *pgx.Conn
	rows  *postgrest.Session
}

func newShelf(t *testing.T, titles ...string) *shelf {
	t.Helper()
	db := testbed.Database(t)
	url, secret := testbed.REST(t, db)
	key := testbed.Token(t, secret, "service_role")
	s := &shelf{t: t, owner: testbed.Connect(t, db.OwnerURL), rows: postgrest.New(url, key, testbed.Schema()).AsService()}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	s.ctx = ctx
	for i, title := range titles {
		s.run(`insert into public.documents (title, content, created_at) values ($1, 'Ask Wiktor about the pump.', now() - make_interval(secs => 1000 - $2))`, title, i)
	}
	return s
}

func (s *shelf) run(sql string, arguments ...any) {
	s.t.Helper()
	if _, err := s.owner.Exec(s.ctx, sql, arguments...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// text returns the single value of a query.
func (s *shelf) text(sql string, arguments ...any) string {
	s.t.Helper()
	var text string
	if err := s.owner.QueryRow(s.ctx, sql, arguments...).Scan(&text); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return text
}

func (s *shelf) want(want, sql string, arguments ...any) {
	s.t.Helper()
	if got := s.text(sql, arguments...); got != want {
		s.t.Errorf("%s: is %q, not %q", sql, got, want)
	}
}

// comeDue makes all pending retries due now.
func (s *shelf) comeDue() {
	s.t.Helper()
	s.run("update tasklens.embedding_jobs set due_at = now() - interval '1 s' where kind = 'enrich'")
}

func (s *shelf) stats() Stats {
	s.t.Helper()
	stats, err := ReadStats(s.ctx, s.rows)
	if err != nil {
		s.t.Fatal(err)
	}
	return stats
}

// batch runs a batch that must succeed.
func (s *shelf) batch(e *Enricher, size int) Report {
	s.t.Helper()
	report, err := e.Batch(s.ctx, s.rows, size)
	if err != nil {
		s.t.Fatalf("batch: %v", err)
	}
	return report
}

const (
	// jobs is the documents, each with its job if there is one.
	jobs     = "public.documents d join tasklens.sources s on s.document_id = d.id left join tasklens.embedding_jobs j on j.source_id = s.source_id and j.kind = 'enrich'"
	attempts = "select string_agg(coalesce(j.attempts::text, '-'), ' ' order by d.title) from " + jobs
)
