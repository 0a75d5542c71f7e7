package eval

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"tasklens/scripts/lab/chart"
)

// Chart draws the nDCG@10 of the searches of a result, beside the references, on its last
// collection.
func Chart(to io.Writer, result io.Reader) error {
	f, err := readResult(result)
	if err != nil {
		return err
	}
	collection, _, _ := strings.Cut(f.names[len(f.names)-1], "\t")
	var bars []chart.Bar
	for _, one := range []struct{ measured, name string }{
		{"keyword", "keyword search"}, {"vector", "vector search"}, {"hybrid, rrf", "hybrid search"},
		{referenceBM25F, "BM25F"}, {"reference: any word, ts_rank", "ts_rank of any word"},
	} {
		value, err := strconv.ParseFloat(f.values[collection+"\t"+one.measured+"\tnDCG@10"], 64)
		if err != nil {
			return fmt.Errorf("read nDCG@10 of %s: %w", one.measured, err)
		}
		bars = append(bars, chart.Bar{Name: one.name, Value: value, Ours: strings.HasSuffix(one.name, " search")})
	}
	return chart.Chart{
		Title: "How well search finds: nDCG@10", Caption: fmt.Sprintf("%s tickets, %s queries; longer is better.",
			f.values[collection+"\tcontents\ttickets"], f.values[collection+"\tkeyword\tqueries"]),
		Format: "%.3f", Groups: []chart.Group{{Bars: bars}},
	}.Draw(to)
}
