package minilm

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

//go:embed vocab.txt.gz
var vocabulary []byte

// Ids of BERT's vocabulary.
const (
	unknown = 100
	begin   = 101 // [CLS]
	end     = 102 // [SEP]
)

// longestWord is the number of characters from which a word is unknown, as in BERT.
const longestWord = 100

var ids = sync.OnceValue(func() map[string]int64 {
	unpacked, err := gzip.NewReader(bytes.NewReader(vocabulary))
	if err != nil {
		panic(err) // it is part of the program
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	list := map[string]int64{}
	for i, piece := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		list[piece] = int64(i)
	}
	return list
})

// pieces returns the ids of a text's word pieces, lower case and without accents: WordPiece as in
// Devlin et al., BERT (2019). Like Hugging Face's tokenizer, but that "[SEP]" in a text is text.
func pieces(text string) []int64 {
	plain, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn))), strings.ToLower(text))
	if err != nil {
		plain = text
	}
	var found []int64
	var word []rune
	flush := func() {
		found = appendPieces(found, word)
		word = word[:0]
	}
	for _, r := range plain {
		switch {
		case unicode.IsSpace(r):
			flush()
		case r == unicode.ReplacementChar, unicode.In(r, unicode.C): // left out, also within a word
		case isPunctuation(r), isIdeograph(r):
			flush()
			word = append(word, r)
			flush()
		default:
			word = append(word, r)
		}
	}
	flush()
	return found
}

// appendPieces cuts a word greedily, from its start, into the longest pieces that the vocabulary
// has.
func appendPieces(found []int64, word []rune) []int64 {
	if len(word) > longestWord {
		return append(found, unknown)
	}
	known := len(found)
	for start := 0; start < len(word); {
		prefix, stop := "", len(word)
		if start > 0 {
			prefix = "##"
		}
		id, is := ids()[prefix+string(word[start:stop])]
		for !is && stop > start+1 {
			stop--
			id, is = ids()[prefix+string(word[start:stop])]
		}
		if !is {
			return append(found[:known], unknown)
		}
		found = append(found, id)
		start = stop
	}
	return found
}

// isPunctuation includes ASCII's symbols, as BERT does.
func isPunctuation(r rune) bool {
	return r > ' ' && r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// isIdeograph reports a character that is a word of its own.
func isIdeograph(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0x3400 <= r && r <= 0x4DBF || 0xF900 <= r && r <= 0xFAFF ||
		0x20000 <= r && r <= 0x2CEAF || 0x2F800 <= r && r <= 0x2FA1F
}
