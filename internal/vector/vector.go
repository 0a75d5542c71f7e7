// Package vector is what an embedding is to this service: numbers of unit length, as many as the database's columns
// hold. It knows nothing of who makes or stores them.
package vector

import (
	"fmt"
	"math"
	"strconv"
)

// Dimensions is the length of the stored embeddings of tickets, and of all that come from a model: that of
// text-embedding-3-small.
const Dimensions = 1536

// Vector is an embedding.
type Vector []float32

// Fit makes an embedding of a model ready to be stored: padded with zeros to Dimensions (which leaves cosines as they
// are) and scaled to length 1. A longer one is refused, because cutting it would change what it means, and so is one
// without direction.
func Fit(numbers []float32) (Vector, error) {
	if len(numbers) > Dimensions {
		return nil, fmt.Errorf("the model's embeddings have %d numbers, at most %d can be stored", len(numbers), Dimensions)
	}
	return scale(numbers, Dimensions)
}

// ShortDimensions is the length of the embeddings of documents.
const ShortDimensions = 768

// Short gives the first ShortDimensions numbers of an embedding, scaled to length 1 again: what text-embedding-3-small
// gives when it is asked for so many, because it is trained for this cut. An embedding that was padded by at least as
// many zeros loses nothing. It fails where what is left has no direction.
func (v Vector) Short() (Vector, error) {
	short, err := scale(v[:min(len(v), ShortDimensions)], ShortDimensions)
	if err != nil {
		return nil, fmt.Errorf("cut an embedding to %d numbers: %w", ShortDimensions, err)
	}
	return short, nil
}

// scale gives numbers the length 1, and zeros behind them.
func scale(numbers []float32, dimensions int) (Vector, error) {
	sum := 0.0
	for _, x := range numbers {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, fmt.Errorf("the model gave an embedding without direction (length %v)", length)
	}
	scaled := make(Vector, dimensions)
	for i, x := range numbers {
		scaled[i] = float32(float64(x) / length)
	}
	return scaled, nil
}

// MarshalText writes the vector in pgvector's input form, [0.1,0.2], which in JSON is a string: an array of vectors can be
// passed to a Postgres function only as an array of strings. It is no MarshalJSON, whose result would be parsed again.
func (v Vector) MarshalText() ([]byte, error) {
	text := make([]byte, 0, 2+14*len(v))
	text = append(text, '[')
	for i, x := range v {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, float64(x), 'g', -1, 32)
	}
	return append(text, ']'), nil
}
