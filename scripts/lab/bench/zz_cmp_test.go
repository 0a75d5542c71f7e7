package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/measure"
)

func TestCompare(t *testing.T) {
	a, b := os.Getenv("DB_A"), os.Getenv("DB_B")
	if a == "" {
		t.Skip()
	}
	n, _ := strconv.Atoi(os.Getenv("N"))
	ctx := context.Background()
	var cs []*pgx.Conn
	for _, u := range []string{a, b} {
		c, err := Connect(ctx, u)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Exec(ctx, "set search_path = public, extensions")
		cs = append(cs, c)
	}
	coll := WithChunks(50000)
	both := func(q asked) []any { return []any{q.text, q.embedding} }
	vec := func(q asked) []any { return []any{q.embedding} }
	word := func(q asked) []any { return []any{q.text} }
	vs := []variant{
		{"hybrid", 0, false, `select * from public.search_hybrid($1, $2, '` + model + `', 0.7, 10)`, both},
		{"hybrid t0", 0, false, `select * from public.search_hybrid($1, $2, '` + model + `', 0, 10)`, both},
		{"keyword 1000", 0, false, `select * from public.search_by_keyword($1, 1000)`, word},
		{"vector 100", 0, false, `select * from public.search_by_vector($1, '` + model + `', -1, 100)`, vec},
		{"keyword p2", 0, false, `select * from public.search_by_keyword($1, 1000, 2)`, word},
		{"keyword p11", 0, false, `select * from public.search_by_keyword($1, 1000, 11)`, word},
		{"keyword Review", 0, false, `select * from public.search_by_keyword($1, 1000, null, 'Review')`, word},
		{"vector p2", 0, false, `select * from public.search_by_vector($1, '` + model + `', -1, 100, 2)`, vec},
		{"vector p4", 0, false, `select * from public.search_by_vector($1, '` + model + `', -1, 100, 4)`, vec},
		{"vector Review", 0, false, `select * from public.search_by_vector($1, '` + model + `', -1, 100, null, 'Review')`, vec},
		{"hybrid p1 Done", 0, false, `select * from public.search_hybrid($1, $2, '` + model + `', 0, 10, 0, 1, 'Done')`, both},
		{"retrieve 40", 0, false, `select * from public.retrieve_chunks($1, '` + model + `', 0.7, 40)`, vec},
		{"retrieve_hybrid", 0, false, `select * from public.retrieve_chunks_hybrid($1, $2, '` + model + `', 0.7, 40)`, both},
		{"similar", 0, false, `select * from public.similar_tickets($1, '` + model + `', 10)`, vec},
		{"facets", 0, false, `select * from public.search_facets($1, $2, '` + model + `', 0.7)`, both},
	}
	took := map[string][]float64{}
	for i := 0; i < n; i++ {
		q := ask(coll.Query(1000 + i))
		for k := range vs {
			v := vs[(i+k)%len(vs)]
			for x := range cs {
				d := (x + i) % 2
				tt, err := timeStatement(ctx, cs[d], v, q)
				if err != nil {
					t.Fatal(v.name, err)
				}
				if i >= n/10 {
					key := fmt.Sprint(v.name, d)
					took[key] = append(took[key], milliseconds(tt))
				}
			}
		}
	}
	for _, v := range vs {
		x, y := measure.Quantile(took[v.name+"0"], 0.5), measure.Quantile(took[v.name+"1"], 0.5)
		fmt.Printf("%-18s new %7.2f  old %7.2f  ratio %.2f   p95 %7.2f %7.2f\n", v.name, x, y, x/y, measure.Quantile(took[v.name+"0"], 0.95), measure.Quantile(took[v.name+"1"], 0.95))
	}
}
