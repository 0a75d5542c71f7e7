package chart_test

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"testing"

	"tasklens/scripts/lab/chart"
)

// rectangles returns the left ends and the widths of the bars of a picture.
func rectangles(t *testing.T, c chart.Chart) (from, wide []float64) {
	t.Helper()
	var out strings.Builder
	if err := c.Draw(&out); err != nil {
		t.Fatal(err)
	}
	var picture struct {
		Rects []struct {
			X     string `xml:"x,attr"`
			Width string `xml:"width,attr"`
		} `xml:"rect"`
	}
	if err := xml.Unmarshal([]byte(out.String()), &picture); err != nil {
		t.Fatal(err)
	}
	for _, r := range picture.Rects[1:] { // the first is the page
		x, err := strconv.ParseFloat(r.X, 64)
		if err != nil {
			t.Fatal(err)
		}
		w, err := strconv.ParseFloat(r.Width, 64)
		if err != nil {
			t.Fatal(err)
		}
		from, wide = append(from, x), append(wide, w)
	}
	return from, wide
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.2 } // rounded to 0.1

func TestBarsAreToScale(t *testing.T) {
	t.Parallel()
	from, wide := rectangles(t, chart.Chart{Title: "<&", Format: "%.1f", Groups: []chart.Group{
		{Name: "one", Bars: []chart.Bar{{Name: "a", Value: 0.2}, {Name: "b", Value: 0.4}}}, {Bars: []chart.Bar{{Name: "c", Value: 0.1}}},
	}})
	if len(wide) != 3 || !near(wide[1], 2*wide[0]) || !near(wide[0], 2*wide[2]) || from[0] != from[1] || from[1] != from[2] {
		t.Errorf("bars of 0.2, 0.4 and 0.1 begin at %v and are %v wide", from, wide)
	}
	from, wide = rectangles(t, chart.Chart{Log: true, Format: "%.0f", Groups: []chart.Group{
		{Bars: []chart.Bar{{Value: 1, High: 10}, {Value: 10, High: 1000}, {Value: 100, High: 100}}},
	}})
	if !near(wide[1], 2*wide[0]) || !near(from[1], from[0]+wide[0]) || !near(from[2], from[1]+wide[0]) || wide[2] <= 0 {
		t.Errorf("1 to 10, 10 to 1000 and 100 begin at %v and are %v wide on a logarithmic scale", from, wide)
	}
}
