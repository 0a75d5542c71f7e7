package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/search"
)

// handedOn is a ranking in the form that the database returns and accepts.
const handedOn = `{"projects":"{1,2}","tickets":"{11,NULL}","scores":"{2.5,1}","exact":1}`

// Keyword ranking runs while the query is embedded, unless the embedding is ready at once. The
// clock is the test's.
func TestRankWhile(t *testing.T) {
	t.Parallel()
	const project, status = 7, "Done"
	words := search.Words{Text: "pump leaks", ProjectID: new(int64(project)), StatusFilter: new(status)}
	down := errors.New("down")
	for _, c := range []struct {
		name                string
		embedding, database time.Duration
		embedded, ranked    error
		wantRanking         bool
		want                time.Duration
	}{
		{name: "a fast model", embedding: 19 * time.Millisecond, want: 19 * time.Millisecond},
		{name: "an embedding that fails at once", embedded: down},
		{name: "a model slower than the database", embedding: 200 * time.Millisecond, database: 40 * time.Millisecond, wantRanking: true, want: 200 * time.Millisecond},
		{name: "a database slower than the model", embedding: 30 * time.Millisecond, database: 40 * time.Millisecond, wantRanking: true, want: 60 * time.Millisecond},
		{name: "a model that fails after the ranking", embedding: 200 * time.Millisecond, database: 40 * time.Millisecond, embedded: down, wantRanking: true, want: 200 * time.Millisecond},
		{name: "a database that fails", embedding: 200 * time.Millisecond, database: 40 * time.Millisecond, ranked: down, want: 200 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := database(func(function string, arguments map[string]any, result any) error {
					if got := fmt.Sprint(function, arguments["query_text"], *arguments["project_filter"].(*int64), *arguments["status_filter"].(*string)); got != "keyword_rankingpump leaks7Done" {
						t.Errorf("the call was %s", got)
					}
					time.Sleep(c.database)
					if c.ranked != nil {
						return c.ranked
					}
					return json.Unmarshal([]byte(`[`+handedOn+`]`), result)
				})
				started := time.Now()
				ranking, err := search.RankWhile(t.Context(), db, words, func(context.Context) error {
					time.Sleep(c.embedding)
					return c.embedded
				})
				if !errors.Is(err, c.embedded) {
					t.Errorf("the error is %v", err)
				}
				if took := time.Since(started); took != c.want {
					t.Errorf("it took %v, want %v", took, c.want)
				}
				if c.wantRanking != (ranking != nil) {
					t.Fatalf("the ranking is %v, want one: %t", ranking, c.wantRanking)
				}
				if text, err := json.Marshal(ranking); c.wantRanking && (err != nil || string(text) != handedOn) {
					t.Errorf("the ranking is encoded as %s, %v", text, err)
				}
			})
		})
	}
}

// A ranking that is no longer needed is not awaited.
func TestRankWhileIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		answered := make(chan struct{})
		db := database(func(string, map[string]any, any) error {
			<-answered
			return nil
		})
		started := time.Now()
		_, err := search.RankWhile(ctx, db, search.Words{Text: "pump"}, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != time.Second {
			t.Errorf("it returned after %v with %v, want the deadline's error after 1 s", time.Since(started), err)
		}
		close(answered)
	})
}

// A panic during keyword ranking leaves the search without a ranking and does not end the process.
func TestAPanicWhileRanking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := database(func(string, map[string]any, any) error { panic("broken") })
		ranking, err := search.RankWhile(t.Context(), broken, search.Words{}, func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		})
		if ranking != nil || err != nil {
			t.Errorf("the ranking is %v, %v", ranking, err)
		}
		if _, err := search.New(search.Weights{}, nil).Hybrid(t.Context(), broken, search.Query{Text: "pumps", Facets: true}, &model{}); fault.CodeOf(err) != fault.Internal {
			t.Errorf("the search returned %v, want an internal error", err)
		}
	})
}
