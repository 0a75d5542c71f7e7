package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tasklens/scripts/lab/chart"
)

// Chart draws how long search_hybrid, plain pgvector and the usual recipe take over every size of a
// report.
func Chart(to io.Writer, report io.Reader) error {
	c := chart.Chart{
		Title: "How long a statement takes, ms", Caption: "From the median to the 95th percentile; a logarithmic scale, further left is better.", Log: true, Format: "%.0f",
	}
	lines := bufio.NewScanner(report)
	for lines.Scan() {
		if chunks, _, found := strings.Cut(lines.Text(), " chunks of "); found {
			size, _ := strconv.Atoi(strings.TrimPrefix(chunks, "### "))
			c.Groups = append(c.Groups, chart.Group{Name: chart.English.Sprintf("%d chunks", size)})
		}
		cells := strings.Split(lines.Text(), "|")
		for statement, name := range map[string]string{
			"search_hybrid": "search_hybrid", "plain pgvector, nearest 100, the vector leg's ef_search": "plain pgvector", "the usual recipe, any word": "the usual recipe",
		} {
			if len(cells) < 4 || strings.TrimSpace(cells[1]) != statement || len(c.Groups) == 0 {
				continue
			}
			var times [2]float64
			for i := range times {
				var err error
				if times[i], err = strconv.ParseFloat(strings.TrimSpace(cells[2+i]), 64); err != nil {
					return fmt.Errorf("read the time of %s: %w", statement, err)
				}
			}
			g := &c.Groups[len(c.Groups)-1]
			g.Bars = append(g.Bars, chart.Bar{Name: name, Value: times[0], High: times[1], Ours: name == statement})
		}
	}
	if len(c.Groups) == 0 {
		return errors.New("the report has no statements")
	}
	return c.Draw(to)
}
