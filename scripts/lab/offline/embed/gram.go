package embed

import "unicode/utf8"

const gramLength = 4

// roots[n] is gramWeight/√n in 1/1024, so that the parts of long and short words have the same
// total weight.
var roots = func() (r [longestWord + 3]int) {
	for n := 1; n < len(r); n++ {
		s := 1 // the integer root of n·2²⁰
		for (s+1)*(s+1) <= n<<20 {
			s++
		}
		r[n] = int(gramWeight * (1 << 20) / float64(s))
	}
	return r
}()

// appendGrams adds the four-letter parts of a stem, with marked ends, so that misspelt and compound
// words are similar.
func appendGrams(list []Feature, stem string, weight int) []Feature {
	if len(stem) < gramLength || len(stem) > longestWord {
		return list
	}
	marked := "^" + stem + "$"
	n := utf8.RuneCountInString(marked) - gramLength + 1
	if n < 1 {
		return list
	}
	each := weight * roots[n] / 1024
	if each == 0 {
		return list
	}
	var starts [longestWord + 3]int
	k := 0
	for i := range marked {
		starts[k] = i
		k++
	}
	starts[k] = len(marked)
	for i := 0; i+gramLength <= k; i++ {
		list = append(list, Feature{Hash: hashOf(kindGram, marked[starts[i]:starts[i+gramLength]]), Weight: each})
	}
	return list
}
