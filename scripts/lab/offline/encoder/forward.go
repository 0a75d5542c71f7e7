package encoder

import (
	"math"
	"slices"

	"github.com/viterin/vek/vek32"
)

// heads is the number of parts of each position's numbers that attend separately.
const heads = 4

// Encode returns the unit vector of a text, of whose pieces it reads the first Longest; nil if it
// knows none of them. Machines with other instructions differ in the last bits.
func Encode(text string) []float32 {
	m := model()
	pieces := m.split(text)
	if len(pieces) == 0 {
		return nil
	}
	x := m.start(pieces[:min(len(pieces), Longest)])
	x = m.Layers[0].apply(x, m.Widen.apply(x))
	x = m.Layers[1].apply(x, x)
	mean := make([]float32, x.width)
	for t := range x.length() {
		vek32.Add_Inplace(mean, x.at(t))
	}
	vek32.DivNumber_Inplace(mean, float32(x.length()))
	out := m.Last.apply(positions{mean, x.width}).numbers
	for i, v := range out {
		out[i] = float32(math.Tanh(float64(v)))
	}
	vek32.DivNumber_Inplace(out, vek32.Norm(out))
	return out
}

// positions are the numbers of each piece of a text, one after the other.
type positions struct {
	numbers []float32
	width   int
}

func (x positions) length() int           { return len(x.numbers) / x.width }
func (x positions) at(t int) []float32    { return x.numbers[t*x.width:][:x.width] }
func newPositions(n, width int) positions { return positions{make([]float32, n*width), width} }

// start returns the meanings of pieces with a signal of sines and cosines that marks their places.
func (m *Model) start(pieces []int) positions {
	x := newPositions(len(pieces), 2*len(m.Timing))
	for t, piece := range pieces {
		at := x.at(t)
		for i, v := range m.Meaning.values[piece*x.width:][:x.width] {
			at[i] = 2 * v
		}
		for i, frequency := range m.Timing {
			sine, cosine := math.Sincos(float64(t) * float64(frequency))
			at[i] += float32(sine)
			at[len(m.Timing)+i] += float32(cosine)
		}
	}
	return x
}

// apply adds to residual what the layer makes of x.
func (l *Layer) apply(x, residual positions) positions {
	mixed := l.Attended.apply(attend(l.Attend.apply(l.Before.apply(x))))
	vek32.Add_Inplace(mixed.numbers, residual.numbers)
	thought := l.Think.apply(l.Between.apply(mixed))
	vek32.MaximumNumber_Inplace(thought.numbers, 0)
	thought = l.Thought.apply(thought)
	vek32.Add_Inplace(thought.numbers, mixed.numbers)
	return thought
}

func (d *Dense) apply(x positions) positions {
	y := positions{vek32.MatMul(x.numbers, d.Weights.values, x.width), len(d.Bias)}
	for t := range y.length() {
		vek32.Add_Inplace(y.at(t), d.Bias)
	}
	return y
}

func (n *Norm) apply(x positions) positions {
	y := positions{slices.Clone(x.numbers), x.width}
	for t := range y.length() {
		at := y.at(t)
		vek32.SubNumber_Inplace(at, vek32.Mean(at))
		vek32.DivNumber_Inplace(at, float32(math.Sqrt(float64(vek32.Dot(at, at))/float64(x.width)+1e-6)))
		vek32.Mul_Inplace(at, n.Scale)
		vek32.Add_Inplace(at, n.Bias)
	}
	return y
}

// attend returns for each position the values of all, weighted by how well its query matches their
// keys (Vaswani et al. 2017). qkv holds the queries, keys and values.
func attend(qkv positions) positions {
	width := qkv.width / 3
	out := newPositions(qkv.length(), width)
	part := width / heads
	weights, weighted := make([]float32, qkv.length()), make([]float32, part)
	for head := range heads {
		query, key, value := head*part, width+head*part, 2*width+head*part
		for t := range out.length() {
			for u := range weights {
				weights[u] = vek32.Dot(qkv.at(t)[query:][:part], qkv.at(u)[key:][:part]) / float32(math.Sqrt(float64(part)))
			}
			total, most := float32(0), vek32.Max(weights)
			for u, w := range weights {
				weights[u] = float32(math.Exp(float64(w - most)))
				total += weights[u]
			}
			for u, w := range weights {
				vek32.MulNumber_Into(weighted, qkv.at(u)[value:][:part], w/total)
				vek32.Add_Inplace(out.at(t)[query:][:part], weighted)
			}
		}
	}
	return out
}
