package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// Against times the statements over two databases with the same tickets, one with the migrations of
// this checkout and one with those of another, query for query in turn, so that other load on the
// machine affects both alike. The first tenth of the queries warms up and does not count. A
// statement that the other database does not know is left out.
func (r Run) Against(ctx context.Context, other *pgx.Conn, to io.Writer) error {
	there := r
	there.Connection = other
	sides := [2]Run{r, there}
	var all []variant
	for _, side := range sides {
		_, err := side.Load(ctx)
		if err != nil {
			return err
		}
		if all, err = side.prepareStatements(ctx); err != nil {
			return err
		}
	}
	var unknown []string
	all = slices.DeleteFunc(all, func(v variant) bool {
		_, err := timeStatement(ctx, other, v, ask(r.Collection.Query(0)))
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s: %v", v.name, err))
		}
		return err != nil
	})
	took := [2]timings{{}, {}}
	warmUp := r.Queries / 10
	for i := range warmUp + r.Queries {
		for k := range sides {
			side := (i + k) % 2 // who runs second finds the machine warmer
			if i == warmUp {
				clear(took[side])
			}
			if err := took[side].timeTurn(ctx, sides[side].Connection, all, ask(r.Collection.Query(i)), i); err != nil {
				return fmt.Errorf("%s: %w", [2]string{"this checkout", "the other checkout"}[side], err)
			}
		}
	}
	table := Table{
		Title:  "Statements, ms, beside those of another checkout",
		Header: []string{"statement", "p50", "other", "ratio", "95%", "p95", "other", "ratio"},
		Caption: fmt.Sprintf("%d queries, in turn in both checkouts, after %d to warm up. The first ratio is the median of the ratios query by query, with its "+
			"confidence interval; the second is that of the two columns before it. Unknown to the other: %s.", r.Queries, warmUp, strings.Join(append(unknown, "–")[:max(1, len(unknown))], "; ")),
	}
	for _, v := range all {
		table.Rows = append(table.Rows, append([]string{v.name}, beside(took[0][v.name], took[1][v.name])...))
	}
	return table.Print(to)
}

// beside returns the cells of a statement: for the median and the 95th percentile the milliseconds
// here and there, and ratios.
func beside(here, there []float64) []string {
	ratios := make([]float64, len(here))
	for i := range ratios {
		ratios[i] = here[i] / there[i]
	}
	// The ranks between which a median lies (by the normal approximation of the binomial).
	reach := 0.98 / math.Sqrt(float64(len(ratios)))
	at := measure.Quantile
	return []string{
		number(at(here, 0.5)), number(at(there, 0.5)), fmt.Sprintf("%.2f", at(ratios, 0.5)),
		fmt.Sprintf("%.2f–%.2f", at(ratios, 0.5-reach), at(ratios, 0.5+reach)),
		number(at(here, 0.95)), number(at(there, 0.95)), ratio(at(here, 0.95), at(there, 0.95)),
	}
}
