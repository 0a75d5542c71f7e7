package measure

// ShareOver is the share of the values that are greater than a threshold; 0 of none.
func ShareOver(values []float64, threshold float64) float64 {
	if len(values) == 0 {
		return 0
	}
	over := 0
	for _, value := range values {
		if value > threshold {
			over++
		}
	}
	return float64(over) / float64(len(values))
}
