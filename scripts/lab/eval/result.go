package eval

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// Result prints what a run measured: a line for each figure (collection, what was measured, metric
// and value, separated by tabs), in the same order in every run. Lines that begin with # are for
// readers only.
type Result struct {
	To         io.Writer
	Collection string
}

// Header is the first line of a result.
const Header = "collection\tmeasured\tmetric\tvalue\n"

func (r Result) figure(measured, metric, value string) error {
	_, err := fmt.Fprintf(r.To, "%s\t%s\t%s\t%s\n", r.Collection, measured, metric, value)
	return err
}

func (r Result) count(measured, metric string, value int) error {
	return r.figure(measured, metric, fmt.Sprint(value))
}

func (r Result) mean(measured, metric string, values []float64) error {
	return r.figure(measured, metric, fmt.Sprintf("%.4f", measure.Mean(values)))
}

func (r Result) note(format string, values ...any) error {
	_, err := fmt.Fprintf(r.To, "# "+r.Collection+": "+format+"\n", values...)
	return err
}

// Row is one ranking method with its score on each query.
type Row struct {
	Name                        string
	Ranked                      [][]string
	NDCG10, Recall10, Recall100 []float64
	Flags                       *Flags // of comparisons
}

func newRow(name string, ranked [][]string, queries []Query) Row {
	r := Row{Name: name, Ranked: ranked}
	for i, q := range queries {
		r.NDCG10 = append(r.NDCG10, measure.NDCG(ranked[i], q.Judged, 10))
		r.Recall10 = append(r.Recall10, measure.Recall(ranked[i], q.Judged, 10))
		r.Recall100 = append(r.Recall100, measure.Recall(ranked[i], q.Judged, 100))
	}
	return r
}

// row prints the figures of a ranking.
func (r Result) row(row Row) error {
	if err := r.count(row.Name, "queries", len(row.Ranked)); err != nil {
		return err
	}
	for _, metric := range []struct {
		name   string
		values []float64
	}{{"nDCG@10", row.NDCG10}, {"Recall@10", row.Recall10}, {"Recall@100", row.Recall100}} {
		if err := r.mean(row.Name, metric.name, metric.values); err != nil {
			return err
		}
	}
	if f := row.Flags; f != nil {
		if err := r.count(row.Name, "likely_duplicate, right", f.Right); err != nil {
			return err
		}
		if err := r.figure(row.Name, "likely_duplicate, precision", fmt.Sprintf("%.4f", float64(f.Right)/float64(max(1, f.All)))); err != nil {
			return err
		}
	}
	first := make([][]string, len(row.Ranked))
	for i, ranked := range row.Ranked {
		first[i] = ranked[:min(len(ranked), 10)]
	}
	if err := r.figure(row.Name, listsOf+"first 10", digest(first)); err != nil {
		return err
	}
	return r.figure(row.Name, listsOf+"first 100", digest(row.Ranked))
}

// listsOf begins the names of figures that are digests.
const listsOf = "lists, "

// perList is the number of characters of a digest for each list: one of 262,144.
const perList = 3

// digest shows which lists differ from another run's.
func digest(lists [][]string) string {
	var out strings.Builder
	for _, list := range lists {
		sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
		out.WriteString(base64.RawURLEncoding.EncodeToString(sum[:])[:perList])
	}
	return out.String()
}

// checking splits by key, the same way in every run, so that what is tuned on one half can be
// checked on the other.
func checking(key string) bool {
	hash := fnv.New32a()
	hash.Write([]byte(key))
	return hash.Sum32()>>3&1 == 1
}

// difference prints by how much one method is better than another, with the standard error: of all
// queries, and of the half that nothing was tuned on.
func (r Result) difference(a, b Row, queries []Query) error {
	differences := measure.Differences(a.NDCG10, b.NDCG10)
	var half []float64
	for i, q := range queries {
		if checking(q.ID) {
			half = append(half, differences[i])
		}
	}
	return r.note("%s − %s: nDCG@10 %+.4f ± %.4f; to check by (%d) %+.4f ± %.4f", a.Name, b.Name,
		measure.Mean(differences), measure.StandardError(differences), len(half), measure.Mean(half), measure.StandardError(half))
}

// Rankings prints the rows of a run and compares the service's searches with the keyword search
// and that with the references.
func (r Result) Rankings(rows []Row, queries []Query) error {
	named := map[string]Row{}
	for _, row := range rows {
		named[row.Name] = row
		if err := r.row(row); err != nil {
			return err
		}
	}
	for _, pair := range [][2]string{
		{"vector", "keyword"}, {"hybrid, rrf", "keyword"}, {"hybrid, convex", "keyword"},
	} {
		if err := r.difference(named[pair[0]], named[pair[1]], queries); err != nil {
			return err
		}
	}
	return nil
}

// Contents prints what is in the database, which is what two comparable runs have in common.
func (r Result) Contents(ctx context.Context, connection *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var tickets, chunks, documents int
	var models []string
	err := connection.QueryRow(ctx, `select (select count(*) from public.tickets), (select count(*) from public.chunks),
		(select count(*) from public.documents), array(select distinct c.model from public.chunks c order by 1)`).Scan(&tickets, &chunks, &documents, &models)
	if err != nil {
		return fmt.Errorf("count tickets: %w", err)
	}
	if err := r.note("embedded by %s", strings.Join(models, " and ")); err != nil {
		return err
	}
	for _, one := range []struct {
		what  string
		count int
	}{{"tickets", tickets}, {"chunks", chunks}, {"documents", documents}} {
		if err := r.count("contents", one.what, one.count); err != nil {
			return err
		}
	}
	return nil
}
