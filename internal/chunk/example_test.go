package chunk_test

import (
	"fmt"
	"strings"

	"tasklens/internal/chunk"
	"tasklens/internal/tokenizer"
)

func ExampleSplit() {
	tokens := tokenizer.Load()
	text := strings.TrimSpace(strings.Repeat("The card is charged twice when the session expires. ", 60))
	for _, c := range chunk.Split(tokens, text) {
		fmt.Printf("bytes %d to %d, %d of them seen before, %d tokens, ends %q\n",
			c.Start, c.End, c.Overlap, c.Tokens, c.Text[len(c.Text)-8:])
	}
	// Output:
	// bytes 0 to 1767, 0 of them seen before, 340 tokens, ends "expires."
	// bytes 1352 to 3119, 415 of them seen before, 340 tokens, ends "expires."
}

func ExampleInput() {
	tokens := tokenizer.Load()
	header := chunk.Header(tokens, "Checkout", "Card charged twice")
	fmt.Println(chunk.Input(header, "It happens when the session expires."))
	// Output:
	// Checkout — Card charged twice
	//
	// It happens when the session expires.
}
