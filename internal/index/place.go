package index

// gap is the distance between the positions of chunks stored together: room for 20 later insertions
// at every place, each halving the rest. When no room is left, the next chunks move.
const gap = 1 << 20

// setPlaces gives chunks increasing positions. Kept ones stay, unless they come before an earlier
// one or leave no room for new ones: moving one costs the vector index as much as an insertion.
func setPlaces(chunks []planned) {
	low := int64(-gap) // the preceding position
	for i, next := range chunks {
		if next.chunkID != nil {
			low = next.position - gap*int64(i+1) // room before the first kept one
			break
		}
	}
	for i := 0; i < len(chunks); {
		end := i // the next one that stays
		for end < len(chunks) && (chunks[end].chunkID == nil || chunks[end].position-low <= int64(end-i)) {
			end++
		}
		step := int64(gap)
		if end < len(chunks) {
			step = (chunks[end].position - low) / int64(end-i+1)
		}
		for ; i < end; i++ {
			low += step
			chunks[i].position, chunks[i].moved = low, chunks[i].chunkID != nil
		}
		if end < len(chunks) {
			low, i = chunks[end].position, end+1
		}
	}
}
