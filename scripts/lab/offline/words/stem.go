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
	weights := map[string]float64{}
	for _, list := range regexp.MustCompile(`(?m)^weight ([\d.]+)\n((?:\S.*\n)*)`).FindAllStringSubmatch(commonText, -1) {
		for _, word := range strings.Fields(list[2]) {
			if _, known := weights[Stem(word)]; !known { // the lighter list comes first and wins
				weights[Stem(word)], _ = strconv.ParseFloat(list[1], 64) // digits and points
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
