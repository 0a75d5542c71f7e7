package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/knowledge"
	"tasklens/internal/vector"
	"tasklens/scripts/lab/measure"
)

const (
	thresholdSQL = `select coalesce((
		select 1 - (e.embedding operator(extensions.<=>) $1) as similarity from public.embeddings e where e.chunk_id is null order by similarity desc offset $2 limit 1), -1)`
	hybridSQL = `select h.final_score from public.search_documents_hybrid($1, $2, 10, $3, false, 30, '` + model + `') h`
	// Then the hybrid search compares and scores all documents over the threshold.
	exhaustiveSQL = `create or replace function tasklens.documents_are_few() returns boolean language sql stable set search_path = '' return true`
	allSQL        = `select (1 - a.similarity)::double precision from public.retrieve_chunks($1, '` + model + `', -1, $2, corpus => 'all') a order by a.similarity desc`
	exactSQL      = `with q as materialized (select extensions.l2_normalize(extensions.subvector($1::extensions.vector, 1, 768)) as v)
		select d from (
			select extensions.l2_normalize(extensions.subvector(c.embedding, 1, 768)) operator(extensions.<=>) (select v from q) as d from public.chunks c where c.model = '` + model + `'
			union all
			select e.embedding operator(extensions.<=>) (select v from q) from public.embeddings e where e.chunk_id is not null) compared
		order by d limit $2`
)

// turned are weights that give little to similarity.
const turned = `update public.search_config set similarity_weight = 0.1, keyword_weight = 0.3, utility_weight = 0.3, freshness_weight = 0.3`

// documents measures the hybrid document search against scoring everything, and retrieval from
// tickets and documents against comparing everything.
func (r Run) documents(ctx context.Context) ([]Table, error) {
	if err := loadDocuments(ctx, r.Connection, r.Documents, r.Progress); err != nil {
		return nil, err
	}
	r.Progress("measuring the recall of documents")
	queries := max(1, r.Queries/3)
	weighed := Table{
		Title:  fmt.Sprintf("Recall@10 of the hybrid search among %d documents against scoring everything", r.Documents),
		Header: []string{"over the threshold; weights", "queries", "recall", "worst", "p50, ms", "scoring everything"},
	}
	for _, w := range []struct{ name, sql string }{{"as they are", ""}, {"0.1, 0.3, 0.3, 0.3", turned}} {
		for _, over := range []int{r.Documents / 40, r.Documents / 20, r.Documents / 10, r.Documents / 4, r.Documents} {
			row, err := r.weigh(ctx, w.sql, over, queries)
			if err != nil {
				return nil, err
			}
			weighed.Rows = append(weighed.Rows, append([]string{fmt.Sprintf("%d; %s", over, w.name), fmt.Sprint(queries)}, row...))
		}
	}
	both := Table{
		Title:  "Recall of retrieval from tickets and documents at once, by 768 numbers, against comparing everything",
		Header: []string{"wanted", "queries", "recall", "worst", "p50, ms", "comparing everything"},
	}
	for _, wanted := range []int{10, 20, 100} {
		var c comparison
		for i := range queries {
			q := ask(r.Collection.Query(i))
			err := c.add(ctx, r.Connection, "", [2]string{allSQL, exactSQL}, func(ours, best float64) bool { return ours <= best+1e-6 }, q.embedding, wanted)
			if err != nil {
				return nil, fmt.Errorf("retrieve from both: %w", err)
			}
		}
		both.Rows = append(both.Rows, append([]string{fmt.Sprintf("%d of both", wanted), fmt.Sprint(queries)}, c.row()...))
	}
	return []Table{weighed, both}, nil
}

// weigh measures at a threshold that this many documents pass, query by query.
func (r Run) weigh(ctx context.Context, weights string, over, queries int) ([]string, error) {
	var c comparison
	for i := range queries {
		q := r.Collection.Query(i)
		embedding := encodeVector(Embed(q.Text, vector.ShortDimensions))
		var threshold float64
		if err := r.Connection.QueryRow(ctx, thresholdSQL, embedding, over).Scan(&threshold); err != nil {
			return nil, fmt.Errorf("choose a threshold: %w", err)
		}
		higher := func(ours, best float64) bool { return ours >= best-1e-9 }
		if err := c.add(ctx, r.Connection, weights, [2]string{hybridSQL, hybridSQL}, higher, embedding, knowledge.Keywords(strings.ToLower(q.Text)), threshold); err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
	}
	return c.row(), nil
}

// comparison collects, per query, how much of the true best a search found, and the time of both.
type comparison struct {
	recall []float64
	took   [2][]float64
}

// add runs a search and its exhaustive counterpart, which both return numbers, best first. reaches
// reports whether a found item is as good as the last of the true best.
func (c *comparison) add(ctx context.Context, connection *pgx.Conn, before string, ways [2]string, reaches func(ours, best float64) bool, arguments ...any) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	tx, err := connection.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	var numbers [2][]float64
	if _, err := tx.Exec(ctx, before); err != nil {
		return err
	}
	for k, sql := range ways {
		if _, err := tx.Exec(ctx, [2]string{"set local role service_role", "reset role; " + exhaustiveSQL}[k]); err != nil {
			return err
		}
		started := time.Now()
		rows, err := tx.Query(ctx, sql, arguments...)
		if err == nil {
			numbers[k], err = pgx.CollectRows(rows, pgx.RowTo[float64])
		}
		if err != nil {
			return err
		}
		c.took[k] = append(c.took[k], milliseconds(time.Since(started)))
	}
	best := numbers[1]
	hits := 0
	for _, ours := range numbers[0] {
		if reaches(ours, best[len(best)-1]) {
			hits++
		}
	}
	c.recall = append(c.recall, float64(min(hits, len(best)))/float64(len(best)))
	return nil
}

func (c *comparison) row() []string {
	return []string{fmt.Sprintf("%.4f", measure.Mean(c.recall)), fmt.Sprintf("%.2f", slices.Min(c.recall)),
		number(measure.Quantile(c.took[0], 0.5)), number(measure.Quantile(c.took[1], 0.5))}
}
