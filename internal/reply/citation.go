package reply

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	separators = regexp.MustCompile(`[\s,;]+`)
	interval   = regexp.MustCompile(`^(\d+)(?:[-–](\d+))?$`)
)

// readCitation parses the content of a bracket: [1], [1, 2] or [1-3]. It returns the numbers of
// existing sources and how many numbers name no source.
func readCitation(inside string, sources int) (numbers []int, unknown int, is bool) {
	named := map[int]bool{}
	for _, part := range separators.Split(strings.TrimSpace(inside), -1) {
		ends := interval.FindStringSubmatch(part)
		if ends == nil {
			return nil, 0, false
		}
		// A number too large for an int is unknown, like any number above sources.
		low, err := strconv.Atoi(ends[1])
		high := low
		if err == nil && ends[2] != "" {
			high, err = strconv.Atoi(ends[2])
		}
		if err != nil || low < 1 || high > sources || high < low {
			unknown++
		}
		if err != nil {
			continue
		}
		for number := max(low, 1); number <= min(high, sources); number++ {
			if !named[number] {
				named[number] = true
				numbers = append(numbers, number)
			}
		}
	}
	return numbers, unknown, true
}
