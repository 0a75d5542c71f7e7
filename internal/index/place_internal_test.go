package index

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// placed plans chunks with these positions (none: a new chunk).
func placed(positions ...any) (chunks []planned) {
	for i, position := range positions {
		next := planned{}
		if at, is := position.(int); is {
			id := fmt.Sprint(i)
			next.chunkID, next.position = &id, int64(at)
		}
		chunks = append(chunks, next)
	}
	setPlaces(chunks)
	return chunks
}

func places(chunks []planned) (places []int64, moved int) {
	for _, next := range chunks {
		places = append(places, next.position)
		if next.moved {
			moved++
		}
	}
	return places, moved
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	const one = gap
	for _, c := range []struct {
		name   string
		chunks []planned
		places []int64
		moved  int
	}{
		{"nothing", placed(), nil, 0},
		{"the first", placed(nil, nil), []int64{0, one}, 0},
		{"one more at the end", placed(0, one, nil), []int64{0, one, 2 * one}, 0},
		{"one more at the beginning", placed(nil, 0), []int64{-one, 0}, 0},
		{"one between", placed(0, nil, one), []int64{0, one / 2, one}, 0},
		{"the first comes last", placed(20, 30, 10), []int64{20, 30, 30 + one}, 1},
		{"no room before the next", placed(0, nil, 1, one), []int64{0, one / 3, one / 3 * 2, one}, 1},
		{"no room at all", placed(0, nil, 1), []int64{0, one, 2 * one}, 1},
	} {
		if places, moved := places(c.chunks); !slices.Equal(places, c.places) || moved != c.moved {
			t.Errorf("%s: %d, %d moved; want %d, %d moved", c.name, places, moved, c.places, c.moved)
		}
	}
}

// However often a source is edited, positions rise, are unique, and few of the kept chunks move.
func TestPlacesOfManyEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chunks := placed(make([]any, rapid.IntRange(0, 50).Draw(t, "chunks"))...)
		for range rapid.IntRange(1, 60).Draw(t, "edits") {
			at := rapid.IntRange(0, len(chunks)).Draw(t, "at")
			gone := rapid.IntRange(0, min(2, len(chunks)-at)).Draw(t, "gone")
			added := rapid.IntRange(0, 3).Draw(t, "added")
			for i := range chunks {
				id := fmt.Sprint(i)
				chunks[i].chunkID, chunks[i].moved = &id, false
			}
			chunks = slices.Replace(chunks, at, at+gone, make([]planned, added)...)
			setPlaces(chunks)
			moved := 0
			for i, chunk := range chunks {
				if i > 0 && chunk.position <= chunks[i-1].position {
					t.Fatalf("chunk %d is at %d behind %d", i, chunk.position, chunks[i-1].position)
				}
				if chunk.moved {
					moved++
				}
			}
			if moved > 10 {
				t.Fatalf("%d of %d kept chunks moved for %d new ones", moved, len(chunks)-added, added)
			}
		}
	})
}
