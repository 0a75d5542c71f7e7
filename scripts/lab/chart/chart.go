// Package chart draws figures as horizontal bars: an SVG without scripts or fonts, in light or dark
// colours as the reader prefers. It does not know what was measured.
package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Chart is a picture of some groups of bars over one axis.
type Chart struct {
	Title, Caption string
	Log            bool   // logarithmic, from 1
	Format         string // of values, such as %.3f
	Groups         []Group
}

// Group is a heading with its bars.
type Group struct {
	Name string
	Bars []Bar
}

// Bar reaches from 0 to its value or, if High is set, from its value to that.
type Bar struct {
	Name        string
	Value, High float64
	Ours        bool // to stand out
}

const (
	width, margin = 760, 16
	left, right   = 180, 100 // room for the names and for the values
	rowHeight     = 24
	barHeight     = 14
)

const style = `<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 } .group { font-weight: 600 } .note { font-size: 12px; fill: #59636e } .grid { stroke: #d1d9e0 }
.other { fill: #a8b1bb } .ours { fill: #0969da } .page { fill: #ffffff }
.value { paint-order: stroke; stroke: #ffffff; stroke-width: 6px }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .note { fill: #9198a1 } .grid { stroke: #3d444d } .other { fill: #656c76 } .ours { fill: #4493f8 } .page { fill: #0d1117 }
  .value { stroke: #0d1117 }
}
</style>
`

// English groups the digits of numbers.
var English = message.NewPrinter(language.English)

// Draw writes the chart.
func (c Chart) Draw(to io.Writer) error {
	var body strings.Builder
	text := func(x, y float64, class, anchor, words string) {
		fmt.Fprintf(&body, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, class, anchor, html.EscapeString(words))
	}
	scale, ticks := c.scale()
	y := 64.0
	top := y
	for _, g := range c.Groups {
		if g.Name != "" {
			y += rowHeight
			text(margin, y-8, "group", "start", g.Name)
		}
		for _, b := range g.Bars {
			class, from, to, label := "other", left+scale(0), left+scale(b.Value), English.Sprintf(c.Format, b.Value)
			if b.High > 0 {
				from, to, label = to, left+scale(b.High), label+" – "+English.Sprintf(c.Format, b.High)
			}
			if b.Ours {
				class = "ours"
			}
			text(left-10, y+16, "name", "end", b.Name)
			fmt.Fprintf(&body, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n", from, y+4, max(to-from, 3), barHeight, class)
			text(to+8, y+16, "value", "start", label)
			y += rowHeight
		}
	}
	var grid strings.Builder
	for _, tick := range ticks {
		fmt.Fprintf(&grid, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", left+scale(tick), left+scale(tick), top, y+4)
		text(left+scale(tick), y+20, "note", "middle", English.Sprint(tick))
	}
	_, err := fmt.Fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\" aria-label=\"%s\">\n%s"+
		"<rect width=\"100%%\" height=\"100%%\" class=\"page\"/>\n<text x=\"%d\" y=\"28\" class=\"title\">%s</text>\n<text x=\"%d\" y=\"48\" class=\"note\">%s</text>\n%s%s</svg>\n",
		width, y+32, width, y+32, html.EscapeString(c.Title), style, margin, html.EscapeString(c.Title), margin, html.EscapeString(c.Caption), grid.String(), body.String())
	return err
}

// scale returns the position of a value, from 0, and the marks of the axis.
func (c Chart) scale() (position func(float64) float64, ticks []float64) {
	most := 1e-9 // not 0
	for _, g := range c.Groups {
		for _, b := range g.Bars {
			most = max(most, b.Value, b.High)
		}
	}
	const room = width - left - right - margin
	if c.Log {
		for tick := 1.0; tick <= most; tick *= 10 {
			ticks = append(ticks, tick)
		}
		return func(v float64) float64 { return room * math.Log10(max(v, 1)) / math.Log10(max(most, 10)) }, ticks
	}
	perOne := math.Pow(10, -math.Floor(math.Log10(most)))
	for most*perOne < 3 {
		perOne *= 2
	}
	for i := 0.0; i/perOne <= most; i++ {
		ticks = append(ticks, i/perOne)
	}
	return func(v float64) float64 { return room * v / most }, ticks
}
