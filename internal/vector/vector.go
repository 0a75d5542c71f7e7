// Package vector defines embeddings: unit-length vectors with the dimensions of the database's
// columns. It does not know what creates or stores them.
package vector

import (
	"fmt"
	"math"
	"strconv"
)

// Dimensions is the length of the stored embeddings of tickets and of every embedding from a model:
// that of text-embedding-3-small.
const Dimensions = 1536

// Vector is an embedding.
type Vector []float32

// Fit prepares a model's embedding for storage: padded with zeros to Dimensions, which preserves
// cosines, and scaled to length 1. A longer embedding is an error, because cutting would change its
// meaning, and so is a zero vector.
func Fit[T float32 | float64](numbers []T) (Vector, error) {
	if len(numbers) > Dimensions {
		return nil, fmt.Errorf("the model's embeddings have %d numbers, at most %d can be stored", len(numbers), Dimensions)
	}
	return scale(numbers, Dimensions)
}

// ShortDimensions is the length of the stored embeddings of documents.
const ShortDimensions = 768

// Short returns the first ShortDimensions numbers of an embedding, scaled to length 1.
// text-embedding-3-small is trained for this truncation and returns the same for dimensions=768. A
// model with at most ShortDimensions numbers loses nothing. Short fails if the remaining vector is
// zero.
func (v Vector) Short() (Vector, error) {
	short, err := scale(v[:min(len(v), ShortDimensions)], ShortDimensions)
	if err != nil {
		return nil, fmt.Errorf("cut an embedding to %d numbers: %w", ShortDimensions, err)
	}
	return short, nil
}

// scale scales numbers to length 1 and pads them with zeros.
func scale[T float32 | float64](numbers []T, dimensions int) (Vector, error) {
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

// MarshalText writes pgvector's input format, [0.1,0.2], which becomes a JSON string: an array of
// vectors can only be passed to a Postgres function as an array of strings. It is not MarshalJSON,
// whose result would be parsed again.
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
