package embed

import "tasklens/scripts/lab/offline/lexicon"

// weigh returns the weight of a single word. Without a corpus, its length is a proxy for rarity.
func weigh(w word) float64 {
	weight := lexicon.Weight(w.stem)
	switch n := len(w.text); {
	case n > longestWord:
		return 0.3
	case hasDigit(w.text):
		if n == 1 {
			return weight * 0.4
		}
		return weight * 0.9
	case n == 1:
		return weight * 0.3
	case n <= 3:
		return weight * 0.8
	case n >= 8:
		return weight * 1.15
	}
	return weight
}

// stemShare is the weight of a stem next to its concepts.
func stemShare(stem string) float64 {
	if lexicon.Knows(stem) {
		return stemWeight
	}
	return rareWeight
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			return true
		}
	}
	return false
}

// Importance of a place; once is an ordinary one.
const (
	once  = 16
	title = 4 * once
)

// place returns how much an occurrence as word i counts: four times in a title, and less further
// down a long text, which mostly states its subject at the start.
func place(i int, titled bool) int {
	const full, half = 40, 60
	switch {
	case titled && i < full:
		return title
	case i < full:
		return once
	}
	return max(once/4, once*half/(half+i-full))
}

// saturate is base × c(k+1)/(c+k) with c = count/once and k = 1: 1 for one occurrence, never above
// 2. Repetition adds little, least of all in a log or in code.
func saturate(base, count int) int {
	return base * count * 2 / (count + once)
}
