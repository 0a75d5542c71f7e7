package chunk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
	"tasklens/internal/chunk"
	"github.com/pkoukk/tiktoken-go"
)

func notes(enc *tiktoken.Tiktoken, s string) int {
	n := 0
	for len(s) > 0 {
		e := len(s)
		if e > 1024 {
			e = 1024
			for !utf8.RuneStart(s[e]) { e-- }
			for i := e - 1; i > 1; i-- {
				if s[i] == ' ' {
					b, _ := utf8.DecodeLastRuneInString(s[:i]); a, _ := utf8.DecodeRuneInString(s[i+1:])
					if unicode.IsLetter(a) && unicode.IsLetter(b) { e = i; break }
				}
			}
		}
		n += len(enc.EncodeOrdinary(s[:e])); s = s[e:]
	}
	return n
}

func TestZZ(t *testing.T) {
	tokens := cl100k(t)
	enc, _ := tiktoken.GetEncoding("cl100k_base")
	maxwork := 0.0
	bad := map[string]int{}
	r := rand.New(rand.NewPCG(77, 8))
	var lo, hi, olo, ohi = 999, 0, 999, 0
	nch := 0
	for i := 0; i < 1200; i++ {
		k := 1 + r.IntN(3)
		var ks []string
		for range k { ks = append(ks, names[r.IntN(len(names))]) }
		text := write(uint64(i+50000), 4+r.IntN(20000), ks...)
		m := &meter{Tokenizer: tokens}
		split(t, tokens, text)
		cs := chunk.Split(m, text)
		if len(cs) > 1 { maxwork = max(maxwork, float64(m.bytes)/float64(len(text))) }
		for j, c := range cs {
			if len(cs) == 1 { continue }
			nch++
			lo = min(lo, c.Tokens); hi = max(hi, c.Tokens)
			if j > 0 { o := tokens.Count(c.Text[:c.Overlap]); olo = min(olo, o); ohi = max(ohi, o) 
				if len(c.Text) < 20000 {
				if n := notes(enc, c.Text[:c.Overlap]); n < 50 || n > 100 { bad[fmt.Sprint("notes-ov ", ks)]++; t.Log("notes overlap", n, o, ks) }
				if p := len(enc.EncodeOrdinary(c.Text[:c.Overlap])); p < 50 || p > 100 { bad[fmt.Sprint("plain-ov ", ks)]++; t.Log("plain overlap", p, o, ks) }
				}
			}
			if len(c.Text) < 20000 {
			if n := notes(enc, c.Text); n < 200 || n > 500 { bad["notes"]++; t.Log("notes", n, c.Tokens, ks) }
			if p := len(enc.EncodeOrdinary(c.Text)); p < 200 || p > 500 { bad["plain"]++; t.Log("plain", p, c.Tokens, ks) }
			}
		}
	}
	t.Log("chunks", nch, "work", maxwork, lo, hi, olo, ohi, len(bad))
	_ = strings.ToLower
}
