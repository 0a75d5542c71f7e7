package index

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// placed plans chunks with these positions (none: a new chunk) for a source that has others too.
func placed(others []int64, positions ...any) *plan {
	p := &plan{}
	for _, position := range others {
		p.source.Chunks = append(p.source.Chunks, storedChunk{Position: position})
	}
	for i, position := range positions {
		next := planned{}
		if at, is := position.(int); is {
			id := fmt.Sprint(i)
			next.chunkID, next.position = &id, int64(at)
			p.source.Chunks = append(p.source.Chunks, storedChunk{Position: int64(at)})
		}
		p.chunks = append(p.chunks, next)
	}
	p.setPlaces()
	return p
}

func (p *plan) places() (places []int64, moved int) {
	for _, next := range p.chunks {
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
		plan   *plan
		places []int64
		moved  int
	}{
		{"nothing", placed(nil), nil, 0},
		{"the first", placed(nil, nil, nil), []int64{0, one}, 0},
		{"one more at the end", placed(nil, 0, one, nil), []int64{0, one, 2 * one}, 0},
		{"one more at the beginning", placed(nil, nil, 0), []int64{-one, 0}, 0},
		{"one between", placed(nil, 0, nil, one), []int64{0, one / 2, one}, 0},
		{"in the place of one that goes", placed([]int64{one / 2}, 0, nil, one), []int64{0, one/2 + 1, one}, 0},
		{"all new", placed([]int64{0, one}, nil, nil), []int64{1, one + 1}, 0},
		{"the last comes first", placed(nil, 30, 10, 20), []int64{10 - one, 10, 20}, 1},
		{"no room before the next", placed(nil, 0, nil, 1, one), []int64{0, one / 3, one / 3 * 2, one}, 1},
		{"no room at all", placed(nil, 0, nil, 1), []int64{0, one, 2 * one}, 1},
	} {
		if places, moved := c.plan.places(); !slices.Equal(places, c.places) || moved != c.moved {
			t.Errorf("%s: %d, %d moved; want %d, %d moved", c.name, places, moved, c.places, c.moved)
		}
	}
}

// However often a source is edited, positions rise, are unique, and few of the kept chunks move.
func TestPlacesOfManyEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := placed(nil, make([]any, rapid.IntRange(0, 50).Draw(t, "chunks"))...)
		for range rapid.IntRange(1, 60).Draw(t, "edits") {
			at := rapid.IntRange(0, len(source.chunks)).Draw(t, "at")
			gone := rapid.IntRange(0, min(2, len(source.chunks)-at)).Draw(t, "gone")
			added := rapid.IntRange(0, 3).Draw(t, "added")
			next := &plan{}
			for i, old := range source.chunks {
				id := fmt.Sprint(i)
				old.chunkID, old.moved = &id, false
				next.source.Chunks = append(next.source.Chunks, storedChunk{Position: old.position})
				next.chunks = append(next.chunks, old)
			}
			next.chunks = slices.Replace(next.chunks, at, at+gone, make([]planned, added)...)
			next.setPlaces()
			taken := map[int64]bool{}
			for _, stored := range next.source.Chunks {
				taken[stored.Position] = true
			}
			moved := 0
			for i, chunk := range next.chunks {
				if i > 0 && chunk.position <= next.chunks[i-1].position {
					t.Fatalf("chunk %d is at %d behind %d", i, chunk.position, next.chunks[i-1].position)
				}
				if (chunk.chunkID == nil || chunk.moved) && taken[chunk.position] {
					t.Fatalf("chunk %d is at %d, which is taken", i, chunk.position)
				}
				if chunk.moved {
					moved++
				}
			}
			if moved > 10 {
				t.Fatalf("%d of %d kept chunks moved for %d new ones", moved, len(next.chunks)-added, added)
			}
			source = next
		}
	})
}
