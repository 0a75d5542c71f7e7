package index

import "sort"

// gap is the distance between the positions of chunks stored together: room for 20 later insertions
// at every place, each halving the rest. When no room is left, the next chunks move.
const gap = 1 << 20

// setPlaces gives the chunks of a plan increasing positions that no stored chunk of the source has,
// moving as few kept chunks as possible: a move costs the vector index as much as an insertion.
func (p *plan) setPlaces() {
	taken := make(map[int64]bool, len(p.source.Chunks))
	for _, stored := range p.source.Chunks {
		taken[stored.Position] = true
	}
	stays := longestIncreasing(p.chunks)
	var low *int64 // the preceding position; nil at the start
	for i := 0; i < len(p.chunks); {
		end := i
		for end < len(p.chunks) && !stays[end] {
			end++
		}
		var high *int64 // the following position; nil at the end
		if end < len(p.chunks) {
			high = &p.chunks[end].position
		}
		if end > i {
			places := spread(low, high, end-i, taken)
			if places == nil {
				stays[end] = false // no room: the next one moves, too
				continue
			}
			for n, place := range places {
				next := &p.chunks[i+n]
				next.moved = next.chunkID != nil
				next.position, taken[place] = place, true
			}
		}
		if high != nil {
			low, end = high, end+1
		} else if end > 0 {
			low = &p.chunks[end-1].position
		}
		i = end
	}
}

// spread returns this many free positions between two, spaced as evenly as possible, or nil if
// there are not enough.
func spread(low, high *int64, count int, taken map[int64]bool) []int64 {
	step := int64(gap)
	first := int64(0)
	switch {
	case low == nil && high == nil:
	case high == nil:
		first = *low + gap
	case low == nil:
		first = *high - gap*int64(count)
	default:
		if step = (*high - *low) / int64(count+1); step == 0 {
			return nil
		}
		first = *low + step
	}
	places := make([]int64, 0, count)
	at := first
	for i := range count {
		at = max(at, first+step*int64(i))
		for taken[at] {
			at++
		}
		if high != nil && at >= *high {
			return nil
		}
		places = append(places, at)
		at++
	}
	return places
}

// longestIncreasing marks the kept chunks that form the longest run of increasing positions
// (patience sorting).
func longestIncreasing(chunks []planned) []bool {
	var tails []int // the last chunk of the best run of each length
	before := make([]int, len(chunks))
	for i, next := range chunks {
		if next.chunkID == nil {
			continue
		}
		length := sort.Search(len(tails), func(n int) bool { return chunks[tails[n]].position >= next.position })
		before[i] = -1
		if length > 0 {
			before[i] = tails[length-1]
		}
		if length == len(tails) {
			tails = append(tails, i)
		} else {
			tails[length] = i
		}
	}
	stays := make([]bool, len(chunks))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			stays[i] = true
		}
	}
	return stays
}
