package knowledge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tasklens/internal/testbed"
)

// patience bounds a test: two sessions that wait for each other fail it.
const patience = time.Minute

// shelf is a database with documents; its sessions act as the service does.
type shelf struct {
	t   *testing.T
	ctx context.Context
	db  *testbed.DB
	one *pgx.Conn
	ids []string
}

func newShelf(t *testing.T, documents int) *shelf {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	s := &shelf{t: t, ctx: ctx, db: testbed.Database(t)}
	s.one = s.session()
	rows, err := s.one.Query(ctx, `select id::text from public.upsert_documents((
		select jsonb_agg(jsonb_build_object('title', 'document ' || i)) from generate_series(1, $1::integer) i))`, documents)
	if err == nil {
		s.ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil || len(s.ids) != documents {
		t.Fatalf("made %d of %d documents: %v", len(s.ids), documents, err)
	}
	return s
}

func (s *shelf) session() *pgx.Conn {
	s.t.Helper()
	conn := testbed.Connect(s.t, s.db.AuthenticatorURL)
	if _, err := conn.Exec(s.ctx, "set role service_role"); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// together runs act in so many sessions at once.
func (s *shelf) together(sessions int, act func(number int, conn *pgx.Conn) error) {
	s.t.Helper()
	var group errgroup.Group
	for number := range sessions {
		conn := s.session()
		group.Go(func() error { return act(number, conn) })
	}
	if err := group.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) number(query string, arguments ...any) int {
	s.t.Helper()
	var n int
	if err := s.one.QueryRow(s.ctx, query, arguments...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Searches that find the same documents, in any order, neither lose a count nor wait for each other in a circle.
func TestRetrievalsAreTrackedTogether(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 10)
	const sessions, searches = 6, 25
	s.together(sessions, func(number int, conn *pgx.Conn) error {
		for search := range searches {
			ids := make([]string, 0, len(s.ids))
			for _, i := range rand.Perm(len(s.ids)) {
				ids = append(ids, s.ids[i])
			}
			query := fmt.Sprintf("query %d of %d", search%5, number)
			if _, err := conn.Exec(s.ctx, "select public.track_document_retrievals($1::uuid[], $2)", ids, query); err != nil {
				return fmt.Errorf("track: %w", err)
			}
		}
		return nil
	})
	if low, high := s.number("select min(retrieval_count) from public.documents"), s.number("select max(retrieval_count) from public.documents"); low != sessions*searches || high != low {
		t.Errorf("each document was retrieved %d times, counted are %d to %d", sessions*searches, low, high)
	}
	if n := s.number("select min(cardinality(retrieval_queries)) from public.documents"); n != sessions*5 {
		t.Errorf("%d different queries found them, kept are %d", sessions*5, n)
	}
}

// Votes that come together all count: a lost one would leave the score of fewer.
func TestVotesAreCountedTogether(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1)
	const sessions, votes = 5, 8
	s.together(sessions, func(_ int, conn *pgx.Conn) error {
		for range votes {
			if _, err := conn.Exec(s.ctx, "select public.rate_document($1, true)", s.ids[0]); err != nil {
				return fmt.Errorf("rate: %w", err)
			}
		}
		return nil
	})
	if s.number("select (abs(utility_score - 10 * (1 - 0.95 ^ $1::integer)) < 1e-9)::integer from public.documents", sessions*votes) != 1 {
		t.Error("a vote was lost")
	}
}

// However many batches run at once, a document is in one of them.
func TestBatchesTakeDifferentDocuments(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 60)
	taken := make([][]string, 6)
	s.together(len(taken), func(number int, conn *pgx.Conn) error {
		for {
			rows, err := conn.Query(s.ctx, "select id::text from public.claim_enrichments(3, 600)")
			if err != nil {
				return fmt.Errorf("claim: %w", err)
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return fmt.Errorf("claim: %w", err)
			}
			if len(ids) == 0 {
				return nil
			}
			taken[number] = append(taken[number], ids...)
		}
	})
	owner := map[string]int{}
	for number, ids := range taken {
		for _, id := range ids {
			if other, twice := owner[id]; twice {
				t.Errorf("batches %d and %d both took %s", other, number, id)
			}
			owner[id] = number
		}
	}
	if left := s.number("select count(*) from public.documents where enrichment_attempts = 0"); left != 0 {
		t.Errorf("%d of %d documents were left", left, len(s.ids))
	}
}

// Whoever edits a document is not kept waiting by whoever embeds it, nor the other way round.
func TestStoringWaitsForNoEditor(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1)
	editor := s.session()
	edit, err := editor.Begin(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := edit.Exec(s.ctx, "update public.documents set content = 'new'"); err != nil {
		t.Fatal(err)
	}
	var stored bool
	store := func() {
		t.Helper()
		if err := s.one.QueryRow(s.ctx, `
			select s.stored from public.read_documents(array[$1::uuid]) r
			cross join lateral public.store_document_chunks(array[r.id], array[r.source_hash], '[]', '{}') s`, s.ids[0]).Scan(&stored); err != nil {
			t.Fatal(err)
		}
	}
	if store(); stored {
		t.Error("chunks were stored under an editor's hands")
	}
	if err := edit.Commit(s.ctx); err != nil {
		t.Fatal(err)
	}
	if store(); !stored {
		t.Error("chunks were not stored after the edit")
	}
}
