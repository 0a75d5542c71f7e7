package chunk

import "testing"

func TestPlacesAroundSpaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, space, after string
		want                 rank
	}{
		{"card", " ", "charged", word},
		{"card,", " ", "charged", word},
		{"card", " \t\u00a0", "charged", word},
		{"card.", " ", "Charged", sentence},
		{"card?!", "  ", "Charged", sentence},
		{"card.\")", " ", "Charged", sentence},
		{"card.»", " ", "Charged", sentence},
		{"3.14", " ", "is", word},
		{"TX-400.x", " ", "is", word},
		{"है।", " ", "हाँ", sentence},
		{"بطاقة؟", " ", "نعم", sentence},
		{"二重。", " ", "支払", sentence},
		{"card", "\n", "charged", line},
		{"card.", "\n", "Charged", line},
		{"card", " \n\t", "charged", line},
		{"card", "\r\n", "charged", line},
		{"card", "\r", "charged", line},
		{"card", "\u2028", "charged", line},
		{"card", "\u0085", "charged", line},
		{"card", "\n\n", "charged", paragraph},
		{"card", "\n \n", "charged", paragraph},
		{"card", "\r\n\r\n", "charged", paragraph},
		{"card", "\r\r", "charged", paragraph},
		{"card", "\u2029", "charged", paragraph},
		{"a\nb", " ", "c", word},
		{"a. b", " ", "c", word},
	} {
		places := findPlaces(test.before + test.space + test.after)
		end, start := places.ends[len(test.before)], places.starts[len(test.before)+len(test.space)]
		if end != test.want || start != test.want {
			t.Errorf("%q, %q, %q: end %d, start %d, want %d", test.before, test.space, test.after, end, start, test.want)
		}
	}
}

func TestPlacesWithoutSpaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		want          rank
	}{
		{"二重。", "支払", sentence},
		{"二重！？", "支払", sentence},
		{"「二重。」", "支払", sentence},
		{"二重。", "」支払", symbol},
		{"二重！", "？支払", symbol},
		{"二重、", "支払", clause},
		{"a.", "b", clause},
		{"=", "1", clause},
		{"支", "払", symbol},
		{"a", "b", symbol},
		{"a", ".", symbol},
		{" ", " ", symbol},
		{"\n", "\n", symbol},
		{"e", "\u0301", character},
		{"👩\u200d", "👧", character},
		{"👩", "\u200d👧", character},
		{"👍", "🏽", character},
		{"❤", "\ufe0f", character},
		{"\r", "\n", character},
		{"", "a", inside},
		{"a", "", inside},
	} {
		places := findPlaces(test.before + test.after)
		end, start := places.ends[len(test.before)], places.starts[len(test.before)]
		if end != test.want || start != test.want {
			t.Errorf("%q, %q: end %d, start %d, want %d", test.before, test.after, end, start, test.want)
		}
	}
}

func TestPlacesInsideACharacter(t *testing.T) {
	t.Parallel()
	places := findPlaces("a漢b")
	for _, at := range []int{2, 3} {
		if places.ends[at] != inside || places.starts[at] != inside {
			t.Errorf("offset %d is not inside a character", at)
		}
	}
}
