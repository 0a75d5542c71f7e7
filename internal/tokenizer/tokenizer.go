// Package tokenizer measures text in the tokens of cl100k_base, the vocabulary
// of the text-embedding-3 models.
//
// It owns the vocabulary and keeps encoding linear. The library below is quadratic in the length of
// a run of letters, spaces or symbols: a megabyte of "aaaa" would take minutes of CPU. So text is
// encoded in pieces of at most 512 bytes (see cut.go). The package does not know what the counts
// are used for.
package tokenizer

import (
	"fmt"
	"math"
	"sync"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// vocabularySize is the number of ordinary tokens of cl100k_base. Special tokens, such as
// <|endoftext|>, have higher ids and are never produced: in a user's text they are plain
// characters.
const vocabularySize = 100_256

// Tokenizer encodes with cl100k_base. It is safe for concurrent use. Load returns it.
type Tokenizer struct {
	// encode turns one piece into token ids.
	encode func(piece string) []int
	// sizes holds the byte length of each token, by id. No token is longer than 128 bytes. A lookup
	// is cheaper than decoding.
	sizes []uint8
}

// Load returns the process's single Tokenizer. The first call reads the vocabulary, which is a part
// of the program and takes time and tens of megabytes. It panics if that is not cl100k_base.
var Load = sync.OnceValue(func() *Tokenizer {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding(tiktoken.MODEL_CL100K_BASE)
	if err != nil {
		panic(fmt.Sprintf("load cl100k_base: %v", err))
	}
	sizes := make([]uint8, vocabularySize)
	id := make([]int, 1)
	for i := range sizes {
		id[0] = i
		size := len(encoding.Decode(id))
		if size == 0 || size > math.MaxUint8 {
			panic(fmt.Sprintf("load cl100k_base: token %d has %d bytes", i, size))
		}
		sizes[i] = uint8(size)
	}
	// Only EncodeOrdinary treats "<|endoftext|>" as text. The library's other encoders panic or
	// emit a control token.
	return &Tokenizer{encode: encoding.EncodeOrdinary, sizes: sizes}
})

// Lengths returns the byte length of each token of text, in order. For valid UTF-8 they sum to
// len(text). A token may end inside a character. There are as many as the model counts if the text
// has a letter, digit or space to cut at in every 512 bytes. Each cut inside a longer unbroken run
// may change that by a token or two.
func (t *Tokenizer) Lengths(text string) []int {
	// Prose has about four bytes per token.
	lengths := make([]int, 0, len(text)/4+1)
	for piece := range pieces(text) {
		for _, id := range t.encode(piece) {
			lengths = append(lengths, int(t.sizes[id]))
		}
	}
	return lengths
}
