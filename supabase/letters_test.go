package supabase_test

import (
	"fmt"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"tasklens/internal/testbed"
)

// Indexing drops the characters that compose_text describes, by the properties that Unicode gives
// them, and no others.
func TestDroppedLetters(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Database(t).OwnerURL)
	dropped := map[rune]bool{} // after q, which no mark composes with
	for _, bare := range []bool{true, false} {
		rows, err := conn.Query(t.Context(), `select c from generate_series(1, 65535) c
			where c not between 55296 and 57343 and tasklens.compose_text('q' || chr(c) || 'q', $1) = 'qq'`, bare)
		if err != nil {
			t.Fatal(err)
		}
		clear(dropped)
		for rows.Next() {
			var c rune
			if err := rows.Scan(&c); err != nil {
				t.Fatal(err)
			}
			dropped[c] = true
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
		var wrong []string
		for c := rune(1); c <= 0xffff; c++ {
			class := norm.NFD.PropertiesString(string(c)).CCC()
			isMark := class == 1 || class == 7 || class >= 10 && class <= 36 || class >= 200
			want := isIgnorable(c) || c == wordMark || c >= 0x300 && c <= 0x36f || bare && isMark
			if want != dropped[c] {
				wrong = append(wrong, fmt.Sprintf("%U class %d", c, class))
			}
		}
		if len(wrong) > 0 {
			t.Errorf("bare %t: %d wrong, %.400v", bare, len(wrong), wrong)
		}
	}
}

// wordMark is the letter of tasklens.word_mark, which no text may have.
const wordMark = 0x1d24

// isIgnorable reports whether Unicode tells renderers to ignore a character
// (Default_Ignorable_Code_Point).
func isIgnorable(c rune) bool {
	isShown := c >= 0x600 && c <= 0x605 || c == 0x6dd || c == 0x70f || c == 0x890 || c == 0x891 || c == 0x8e2 || c >= 0xfff9 && c <= 0xfffb
	return unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !isShown
}
