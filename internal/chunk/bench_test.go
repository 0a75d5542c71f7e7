package chunk_test

import (
	"strings"
	"testing"

	"tasklens/internal/chunk"
)

// BenchmarkSplit splits a megabyte of prose and of the worst input for a tokenizer. It reports how
// often each byte is tokenized.
func BenchmarkSplit(b *testing.B) {
	tokens := cl100k(b)
	const size = 1 << 20
	for _, test := range []struct{ name, text string }{
		{"prose", write(1, size, "paragraphs", "sentences")},
		{"code", write(1, size, "code")},
		{"letters", strings.Repeat("a", size)},
		{"spaces", strings.Repeat(" ", size)},
		{"newlines", strings.Repeat("\n", size)},
		{"han", write(1, size, "hanrun")},
		{"emoji", write(1, size, "emoji")},
		{"noise", write(1, size, "noise")},
		{"marks", write(1, size, "marks")},
		{"latin", write(1, size, "latin")},
		{"same", write(1, size, "same")},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(size)
			metered := &meter{Tokenizer: tokens}
			var chunks int
			for b.Loop() {
				metered.bytes = 0
				chunks = len(chunk.Split(metered, test.text))
			}
			b.ReportMetric(float64(metered.bytes)/size, "work")
			b.ReportMetric(float64(chunks), "chunks")
		})
	}
}
