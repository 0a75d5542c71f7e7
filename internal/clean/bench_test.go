package clean

import (
	"strings"
	"testing"
)

func BenchmarkPrompt(b *testing.B) {
	text := strings.Repeat("The pump <b>leaks</b> at rows[0], see List<String> and <anon>.\n", 500)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Prompt(text)
	}
}
