package measure

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Metrics reads the metrics without labels of a program in Go from Prometheus's text format.
func Metrics(from io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), " "); !strings.ContainsAny(name, "#{") {
			values[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	if values["go_goroutines"] == 0 {
		return nil, errors.Join(errors.New("there are no metrics of a program in Go"), lines.Err())
	}
	return values, nil
}
