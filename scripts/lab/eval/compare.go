package eval

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// tolerance is by how much a figure may fall.
const tolerance = 0.001

// ErrWorse is returned by Compare if a figure fell by more than the tolerance or is missing.
var ErrWorse = errors.New("figures fell, or are missing")

// figures are a result's lines: values by collection, what was measured and metric.
type figures struct {
	names  []string
	values map[string]string
}

// Compare prints the figures that differ between two results, and the numbers of lists that do.
func Compare(to io.Writer, before, after io.Reader) error {
	a, err := readResult(before)
	if err != nil {
		return fmt.Errorf("read the first result: %w", err)
	}
	b, err := readResult(after)
	if err != nil {
		return fmt.Errorf("read the second result: %w", err)
	}
	var out strings.Builder
	equal, worse := 0, 0
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&out, "%-80s %s\n", strings.ReplaceAll(name, "\t", " | "), fmt.Sprintf(format, values...))
	}
	for _, name := range a.names {
		old := a.values[name]
		now, found := b.values[name]
		switch {
		case !found:
			worse++
			line(name, "missing")
		case old == now:
			equal++
		case isDigest(name):
			line(name, "%s", differing(old, now))
		default:
			x, y, err := numbers(old, now)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			verdict := ""
			if x-y > tolerance+1e-9 {
				worse++
				verdict = "  WORSE"
			}
			line(name, "%s → %s  %+.4f%s", old, now, y-x, verdict)
		}
	}
	for _, name := range b.names {
		if _, found := a.values[name]; !found {
			line(name, "new: %.20s", b.values[name])
		}
	}
	fmt.Fprintf(&out, "%d of %d lines are equal; %d figures fell by more than %v or are missing\n", equal, len(a.names), worse, tolerance)
	if _, err := io.WriteString(to, out.String()); err != nil {
		return err
	}
	if worse > 0 {
		return ErrWorse
	}
	return nil
}

func isDigest(name string) bool { return strings.Contains(name, "\t"+listsOf) }

func numbers(a, b string) (x, y float64, err error) {
	if x, err = strconv.ParseFloat(a, 64); err == nil {
		y, err = strconv.ParseFloat(b, 64)
	}
	return x, y, err
}

// differing counts the lists whose digests differ, and names the first of them.
func differing(a, b string) string {
	if len(a) != len(b) {
		return "not the same number of lists"
	}
	var which []string
	for i := 0; i+perList <= len(a); i += perList {
		if a[i:i+perList] != b[i:i+perList] {
			which = append(which, strconv.Itoa(i/perList+1))
		}
	}
	text := fmt.Sprintf("%d of %d differ: %s", len(which), len(a)/perList, strings.Join(which[:min(len(which), 10)], " "))
	if len(which) > 10 {
		text += " …"
	}
	return text
}

func readResult(from io.Reader) (figures, error) {
	f := figures{values: map[string]string{}}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		text := lines.Text()
		if strings.HasPrefix(text, "#") || text+"\n" == Header {
			continue
		}
		cut := strings.LastIndex(text, "\t")
		if strings.Count(text, "\t") != 3 {
			return f, fmt.Errorf("line %d does not have four columns", number)
		}
		name := text[:cut]
		if _, twice := f.values[name]; twice {
			return f, fmt.Errorf("line %d: the figure occurs twice", number)
		}
		f.names, f.values[name] = append(f.names, name), text[cut+1:]
	}
	if err := lines.Err(); err != nil {
		return f, err
	}
	if len(f.names) == 0 {
		return f, errors.New("it has no figures")
	}
	return f, nil
}
