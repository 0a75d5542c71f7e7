package words

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

//go:embed common.txt
var commonText string

// common maps the stems of common words to their weights.
var common = sync.OnceValue(func() map[string]float64 {
	weights, weight := map[string]float64{}, 0.0
	for line := range strings.Lines(commonText) {
		if number, is := strings.CutPrefix(strings.TrimSpace(line), "weight "); is {
			weight, _ = strconv.ParseFloat(number, 64) // digits and points
		} else if !strings.HasPrefix(line, "#") {
			for _, word := range strings.Fields(line) {
				if _, known := weights[Stem(word)]; !known { // the lighter list comes first and wins
					weights[Stem(word)] = weight
				}
			}
		}
	}
	return weights
})

// Weight returns the weight of a stem: 0 for a stop word, 1 for a word that is not common.
func Weight(stem string) float64 {
	if w, ok := common()[stem]; ok {
		return w
	}
	return 1
}

// stemmed are the words that have stems. Longer ones are encoded data.
var stemmed = regexp.MustCompile(`^[a-z]{3,32}$`)

// Stem returns the stem of a lower-case word (Snowball's English stemmer, "Porter 2"). A word with
// anything but the letters a to z is its own stem.
func Stem(word string) string {
	if stemmed.MatchString(word) {
		return english.Stem(word, false)
	}
	return word
}
