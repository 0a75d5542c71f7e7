// Package lexicon holds the word knowledge of the offline models: stems, the low weights of very
// common words, and which words of software teams name the same concept. It does not know vectors,
// prompts or HTTP.
//
// The data is in two text files that are easy to read and extend: concepts.txt and common.txt.
package lexicon

import (
	_ "embed"
	"errors"
	"fmt"
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
	Near   []Near  // related concepts
}

// Near is a related concept.
type Near struct {
	Name   string
	Number int
	Weight float64
}

// A Lexicon is read-only after loading, and safe for concurrent use.
type Lexicon struct {
	weights map[string]float64   // stem → weight of a common word
	phrases map[string][]Concept // stems joined by blanks → concepts
	longest map[string]int       // first stem → number of words of the longest phrase that it starts
}

// Default is the embedded lexicon, read on first use.
var Default = sync.OnceValue(func() *Lexicon {
	l, err := Read(conceptsText, commonText)
	if err != nil {
		panic("lexicon: " + err.Error()) // an embedded file is broken; a test prevents this
	}
	return l
})

// Read parses a file of concepts and one of common words.
func Read(concepts, common string) (*Lexicon, error) {
	l := &Lexicon{weights: map[string]float64{}, phrases: map[string][]Concept{}, longest: map[string]int{}}
	if err := l.readConcepts(concepts); err != nil {
		return nil, fmt.Errorf("read concepts: %w", err)
	}
	if err := l.readCommon(common); err != nil {
		return nil, fmt.Errorf("read common words: %w", err)
	}
	return l, nil
}

func (l *Lexicon) readConcepts(text string) error {
	var concepts []Concept
	var words [][]string // by concept
	field, known := "", map[string]Concept{}
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			continue
		case line[0] == ' ' && len(words) > 0:
			last := len(words) - 1
			words[last] = append(words[last], strings.Fields(line)...)
			continue
		case line[0] == '[' && line[len(line)-1] == ']':
			field = line[1 : len(line)-1]
			continue
		}
		head, list, ok := strings.Cut(line, ":")
		if !ok || field == "" {
			return fmt.Errorf("line %d: want [field] or concept: words", i+1)
		}
		concept, err := readHead(head)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		if _, twice := known[concept.Name]; twice {
			return fmt.Errorf("line %d: concept %s is defined twice", i+1, concept.Name)
		}
		concept.Field, concept.Number = field, len(concepts)+1
		known[concept.Name] = concept
		concepts, words = append(concepts, concept), append(words, strings.Fields(list))
	}
	for i, concept := range concepts {
		for j, near := range concept.Near {
			other, ok := known[near.Name]
			if !ok {
				return fmt.Errorf("concept %s: unknown near concept %s", concept.Name, near.Name)
			}
			concept.Near[j].Weight, concept.Near[j].Number = other.Weight, other.Number
		}
		for _, word := range words[i] {
			l.add(word, concept)
		}
	}
	return nil
}

// readHead parses the text before the colon: a name, optionally a weight and near concepts.
func readHead(head string) (Concept, error) {
	parts := strings.Fields(head)
	if len(parts) == 0 {
		return Concept{}, errors.New("concept without a name")
	}
	concept := Concept{Name: parts[0], Weight: 1}
	for _, part := range parts[1:] {
		if near, ok := strings.CutPrefix(part, "~"); ok {
			concept.Near = append(concept.Near, Near{Name: near})
			continue
		}
		weight, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return Concept{}, fmt.Errorf("weight of %s: %w", concept.Name, err)
		}
		concept.Weight = weight
	}
	return concept, nil
}

func (l *Lexicon) add(word string, concept Concept) {
	stems := strings.Split(word, "_")
	for i := range stems {
		stems[i] = Stem(stems[i])
	}
	key := strings.Join(stems, " ")
	for _, known := range l.phrases[key] {
		if known.Name == concept.Name { // two words of a concept may share a stem
			return
		}
	}
	l.phrases[key] = append(l.phrases[key], concept)
	l.longest[stems[0]] = max(l.longest[stems[0]], len(stems))
}

func (l *Lexicon) readCommon(text string) error {
	weight := 1.0
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if number, ok := strings.CutPrefix(line, "weight "); ok {
			w, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
			weight = w
			continue
		}
		for _, word := range strings.Fields(line) {
			if _, known := l.weights[Stem(word)]; !known { // the lighter list comes first and wins
				l.weights[Stem(word)] = weight
			}
		}
	}
	return nil
}

// Weight returns the weight of a stem: 0 for a stop word, 1 for a word that is not common.
func (l *Lexicon) Weight(stem string) float64 {
	if w, ok := l.weights[stem]; ok {
		return w
	}
	return 1
}

// Knows reports whether a stem is a common word or names a concept by itself.
func (l *Lexicon) Knows(stem string) bool {
	if _, common := l.weights[stem]; common {
		return true
	}
	_, named := l.phrases[stem]
	return named
}

// Match finds the longest phrase at the start of stems. It returns its concepts, which the caller
// must not modify, and the number of stems it spans; 0 if there is none.
func (l *Lexicon) Match(stems []string) ([]Concept, int) {
	if len(stems) == 0 {
		return nil, 0
	}
	for n := min(l.longest[stems[0]], len(stems)); n > 0; n-- {
		key := stems[0]
		if n > 1 {
			key = strings.Join(stems[:n], " ")
		}
		if concepts, ok := l.phrases[key]; ok {
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
	if len(word) < 3 || len(word) > longestStemmed {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, false)
}
