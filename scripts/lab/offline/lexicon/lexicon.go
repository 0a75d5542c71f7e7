// Package lexicon holds the word knowledge of the offline models: stems, the low weights of very
// common words, and which words of software teams name the same concept. It does not know vectors,
// prompts or HTTP.
//
// The data is in two text files that are easy to read and extend: concepts.txt and common.txt.
package lexicon

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

//go:embed concepts.txt
var conceptsText string

//go:embed common.txt
var commonText string

// A Concept is one meaning that several words share.
type Concept struct {
	Name   string  // unique, such as "login"
	Number int     // place in the file, from 1
	Field  string  // the broader field, such as "identity"
	Weight float64 // 1 by default, less for concepts in nearly every ticket
	Near   []*Concept
}

// lexicon is what the files say.
type lexicon struct {
	weights map[string]float64    // stem → weight of a common word
	phrases map[string][]*Concept // stems joined by blanks → concepts
	longest map[string]int        // first stem → number of words of the longest phrase that it starts
}

var loaded = sync.OnceValue(func() lexicon { return read(conceptsText, commonText) })

// definition is a field, or a concept: its name, a weight, near concepts, and the words.
//
//	[identity]
//	login 1.4 ~session: login log_in
var definition = regexp.MustCompile(`(?m)^\[(.*)\]$|^([a-z]\S*?)(?: ([\d.]+))?((?: ~\S+)*):(.*(?:\n +.*)*)`)

// read reads a file of concepts and one of common words.
func read(concepts, common string) lexicon {
	l := lexicon{weights: map[string]float64{}, phrases: map[string][]*Concept{}, longest: map[string]int{}}
	byName := map[string]*Concept{}
	named := func(name string) *Concept {
		if byName[name] == nil {
			byName[name] = &Concept{Name: name, Weight: 1}
		}
		return byName[name]
	}
	field, number := "", 0
	for _, m := range definition.FindAllStringSubmatch(concepts, -1) {
		if m[1] != "" {
			field = m[1]
			continue
		}
		c := named(m[2])
		number++
		c.Number, c.Field = number, field
		if m[3] != "" {
			c.Weight, _ = strconv.ParseFloat(m[3], 64) // digits and points
		}
		for _, near := range strings.Fields(strings.ReplaceAll(m[4], "~", "")) {
			c.Near = append(c.Near, named(near))
		}
		for _, phrase := range strings.Fields(m[5]) {
			words := strings.Split(phrase, "_")
			for i := range words {
				words[i] = Stem(words[i])
			}
			key := strings.Join(words, " ")
			l.phrases[key] = append(l.phrases[key], c)
			l.longest[words[0]] = max(l.longest[words[0]], len(words))
		}
	}
	weight := 0.0
	for line := range strings.Lines(common) {
		if number, is := strings.CutPrefix(strings.TrimSpace(line), "weight "); is {
			weight, _ = strconv.ParseFloat(number, 64)
		} else if !strings.HasPrefix(line, "#") {
			for _, word := range strings.Fields(line) {
				if _, known := l.weights[Stem(word)]; !known { // the lighter list comes first and wins
					l.weights[Stem(word)] = weight
				}
			}
		}
	}
	return l
}

// Weight returns the weight of a stem: 0 for a stop word, 1 for a word that is not common.
func Weight(stem string) float64 {
	if w, ok := loaded().weights[stem]; ok {
		return w
	}
	return 1
}

// Knows reports whether a stem is a common word or names a concept by itself.
func Knows(stem string) bool {
	_, isCommon := loaded().weights[stem]
	return isCommon || loaded().phrases[stem] != nil
}

// Match finds the longest phrase at the start of stems. It returns its concepts, which the caller
// must not modify, and the number of stems it spans; 0 if there is none.
func Match(stems []string) ([]*Concept, int) { return loaded().match(stems) }

func (l lexicon) match(stems []string) ([]*Concept, int) {
	for n := min(l.longest[stems[0]], len(stems)); n > 0; n-- {
		if concepts := l.phrases[strings.Join(stems[:n], " ")]; concepts != nil {
			return concepts, n
		}
	}
	return nil, 0
}

// longestStemmed limits the stemmer's work: longer "words" are encoded data.
const longestStemmed = 32

// Stem returns the stem of a lower-case word (Snowball's English stemmer, "Porter 2"). A word with
// anything but the letters a to z is its own stem.
func Stem(word string) string {
	if len(word) < 3 || len(word) > longestStemmed || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	return english.Stem(word, false)
}
