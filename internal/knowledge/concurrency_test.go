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

// patience bounds a test, so that a deadlock fails it.
const patience = time.Minute

// shelf is a database with documents, whose sessions act as the service.
type shelf struct {
	t   *testing.T
	ctx context.Context
	db  *testbed.DB
	one *pgx.Conn
	ids []string
}

func newShelf(t *testing.T, documents int) *shelf {
	t.Helper()
	db := testbed.Database(t) // before the time runs: the first test waits for the migrations
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	s := &shelf{t: t, ctx: ctx, db: db}
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

// together runs act in this many concurrent sessions.
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

// Concurrent searches that find the same documents, in any order, lose no count and never deadlock.
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

// Concurrent enrichments and edits of one document keep every edit and the last enrichment's
// result.
func TestEditsAndEnrichmentsKeepEachOther(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1)
	const sessions, rounds = 6, 20
	s.together(sessions, func(number int, conn *pgx.Conn) error {
		for round := range rounds {
			sql := `update public.documents set keywords = array_append(keywords, 'edit ' || $2::text), named_entities = named_entities || jsonb_build_object('name', 'edit ' || $2::text)
				where id = $1`
			if number%2 == 0 {
				sql = `select public.store_enrichment(s.source_id, t.source_hash, array['found', $2], '[{"name": "Found"}]', 'dated', 'model')
					from tasklens.sources s cross join lateral tasklens.source_texts(array[s.source_id]) t where s.document_id = $1`
			}
			if _, err := conn.Exec(s.ctx, sql, s.ids[0], fmt.Sprintf("%d of %d", round, number)); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
		return nil
	})
	for list, found := range map[string]int{"array_to_json(keywords)::jsonb": 2, "jsonb_path_query_array(named_entities, '$[*].name')": 1} {
		if n, want := s.number("select count(*) from public.documents, jsonb_array_elements_text("+list+") k where k like 'edit%'"), sessions/2*rounds; n != want {
			t.Errorf("%d of %d edits of %s are left", n, want, list)
		}
		if n := s.number("select count(*) from public.documents, jsonb_array_elements_text(" + list + ") k where k not like 'edit%'"); n != found {
			t.Errorf("%d of %d are left that enrichment found, of %s", n, found, list)
		}
	}
}

// Concurrent votes all count: each one of the service and the last one of each user. A lost vote
// would lower the score's basis.
func TestVotesAreCountedTogether(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 3)
	const sessions, votes, users = 6, 12, 4
	s.together(sessions, func(number int, conn *pgx.Conn) error {
		for vote := range votes {
			if _, err := conn.Exec(s.ctx, "select public.rate_document($1, true)", s.ids[0]); err != nil {
				return fmt.Errorf("rate: %w", err)
			}
			// Several documents per statement, and the same users in all sessions.
			user := fmt.Sprintf("00000000-0000-4000-8000-%012d", vote%users)
			if _, err := conn.Exec(s.ctx, `insert into public.document_votes (document_id, user_id, helpful) select d, $2, $3 from unnest($1::uuid[]) d order by d
				on conflict (document_id, user_id) do update set helpful = excluded.helpful`, s.ids[1:], user, (number+vote)%2 == 0); err != nil {
				return fmt.Errorf("vote: %w", err)
			}
		}
		return nil
	})
	if n := s.number(`select count(*) from public.documents d where (d.helpful_votes, d.unhelpful_votes) <> (
		select count(*) filter (where v.helpful), count(*) filter (where not v.helpful) from public.document_votes v where v.document_id = d.id)`); n != 0 {
		t.Errorf("the votes of %d documents are counted wrongly", n)
	}
	for i, want := range []int{sessions * votes, users, users} {
		if n := s.number("select helpful_votes + unhelpful_votes from public.documents where id = $1", s.ids[i]); n != want {
			t.Errorf("document %d has %d votes, not %d", i, n, want)
		}
	}
	if n := s.number("select count(*) from public.documents where abs(utility_score - 10.0 * helpful_votes / (19 + helpful_votes + unhelpful_votes)) > 1e-9"); n != 0 {
		t.Errorf("the scores of %d documents do not follow from their votes", n)
	}
}
