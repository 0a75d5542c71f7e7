package eval

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/collection"
	"tasklens/internal/measure"
)

// halves is the number of random halves of the queries that are compared. seed makes them
// reproducible.
const (
	halves = 20
	seed   = 1
)

// Report is the result of a run.
type Report struct {
	Queries, Projects, Tickets, Chunks int
	Checking                           []bool   // by query: whether it is in the half that was not used for tuning
	Models                             []string // models that embedded the chunks
	Missing                            int      // relevant tickets missing from the database
	Rows                               []Row
	Pairs                              []Pair
	Latencies                          []float64 // milliseconds, one per search
}

// Row is one ranking method with its score on each query.
type Row struct {
	Name                               string
	NDCG10, Recall10, Recall100, MRR10 []float64
}

func newRow(name string, ranked [][]string, queries []collection.Query) Row {
	r := Row{Name: name}
	for i, q := range queries {
		r.NDCG10 = append(r.NDCG10, measure.NDCG(ranked[i], q.Judged, 10))
		r.Recall10 = append(r.Recall10, measure.Recall(ranked[i], q.Judged, 10))
		r.Recall100 = append(r.Recall100, measure.Recall(ranked[i], q.Judged, 100))
		r.MRR10 = append(r.MRR10, measure.ReciprocalRank(ranked[i], q.Judged, 10))
	}
	return r
}

// Pair is two rankings compared per query.
type Pair struct{ A, B Row }

// describe counts what is in the database.
func (r *Report) describe(ctx context.Context, connection *pgx.Conn, queries []collection.Query) error {
	r.Queries = len(queries)
	for _, q := range queries {
		r.Checking = append(r.Checking, checking(q.ID))
	}
	judged := []string{}
	seen := map[string]bool{}
	for _, q := range queries {
		for key := range q.Judged {
			if !seen[key] {
				seen[key] = true
				judged = append(judged, key)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := connection.QueryRow(ctx, `select (select count(*) from public.projects), (select count(*) from public.tickets),
			(select count(*) from public.chunks), array(select distinct c.model from public.chunks c order by 1),
			cardinality($1::text[]) - (select count(*) from public.tickets t where t.key = any ($1))`,
		judged).Scan(&r.Projects, &r.Tickets, &r.Chunks, &r.Models, &r.Missing)
	if err != nil {
		return fmt.Errorf("count tickets: %w", err)
	}
	if r.Tickets == 0 {
		return fmt.Errorf("count tickets: the database holds none")
	}
	return nil
}

// checking splits the queries by id, the same way in every run, so that tuning on one half can be
// checked on the other.
func checking(id string) bool {
	hash := fnv.New32a()
	hash.Write([]byte(id))
	return hash.Sum32()>>3&1 == 1
}

// half returns the values of one half of the queries.
func (r Report) half(values []float64, checking bool) (half []float64) {
	for i, value := range values {
		if r.Checking[i] == checking {
			half = append(half, value)
		}
	}
	return half
}

// Print prints the report. name is the collection's.
func (r Report) Print(to io.Writer, name string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %d tickets in %d projects, %d chunks embedded by %s, %d queries\n",
		name, r.Tickets, r.Projects, r.Chunks, strings.Join(r.Models, " and "), r.Queries)
	if r.Missing > 0 {
		fmt.Fprintf(&out, "%d relevant tickets are not in the database: no ranking can find them\n", r.Missing)
	}
	fmt.Fprintf(&out, "\n%-34s %7s %10s %11s %7s\n", "ranking", "nDCG@10", "Recall@10", "Recall@100", "MRR@10")
	for _, row := range r.Rows {
		fmt.Fprintf(&out, "%-34s %7.3f %10.3f %11.3f %7.3f\n", row.Name,
			measure.Mean(row.NDCG10), measure.Mean(row.Recall10), measure.Mean(row.Recall100), measure.Mean(row.MRR10))
	}
	fmt.Fprintf(&out, "\n%-66s %10s %10s   %d halves: mean, 95%% within\n", "nDCG@10, difference per query", "mean", "std error", halves)
	for _, pair := range r.Pairs {
		differences := measure.Differences(pair.A.NDCG10, pair.B.NDCG10)
		means := measure.Halves(differences, halves, rand.New(rand.NewPCG(seed, seed)).Shuffle)
		fmt.Fprintf(&out, "%-66s %+10.4f %10.4f   %+.4f, %+.4f to %+.4f\n", pair.A.Name+" − "+pair.B.Name,
			measure.Mean(differences), measure.StandardError(differences),
			measure.Mean(means), measure.Quantile(means, 0.025), measure.Quantile(means, 0.975))
		fmt.Fprintf(&out, "%66s", "")
		for i, name := range []string{"to choose by", "to check by"} {
			half := r.half(differences, i == 1)
			fmt.Fprintf(&out, "   %s %+.4f ± %.4f", name, measure.Mean(half), measure.StandardError(half))
		}
		fmt.Fprintln(&out)
	}
	if len(r.Latencies) > 0 {
		fmt.Fprintf(&out, "\nA hybrid search of ten results, one at a time: %.0f ms (median), %.0f ms (95%%)\n",
			measure.Quantile(r.Latencies, 0.5), measure.Quantile(r.Latencies, 0.95))
	}
	_, err := io.WriteString(to, out.String())
	return err
}
