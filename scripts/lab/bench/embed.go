package bench

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"tasklens/internal/vector"
)

// What a vector is made of, as shares of its square. Two texts that have nothing else in common
// have the cosine commonShare; topic, words, project and ticket add to it, up to about 0.8. So
// clusters overlap: a chunk on two topics lies between both, topics of one area lie near each
// other, and words are shared by all.
const (
	commonShare  = 0.30
	topicShare   = 0.30
	wordShare    = 0.25
	projectShare = 0.05
	ticketShare  = 0.05
	noiseShare   = 0.05
)

// areas are groups of topics that are near each other.
const areas = 20

// Real texts differ in some dozens of ways and not in 1,536: half of what a word, a ticket or a
// topic adds lies in the same few dimensions for all of them. Otherwise everything off topic would
// be equally far away, which no index of neighbours can deal with.
const (
	fewDimensions = 32
	fewShare      = 0.5
)

// Embed is the model of the generated collection: it knows the words' topics, so a query lies near
// the texts that are about the same thing. The same text always has the same vector. dimensions
// cuts it.
func Embed(text string, dimensions int) []float32 {
	v := compose(text).vector()
	return normalise(v[:max(1, min(dimensions, len(v)))])
}

// embedChunk also knows where a text stands: texts of one ticket, and of one project, are about the
// same thing.
func embedChunk(text string, project, ticket int) []float32 {
	s := compose(text)
	s.add("project", uint64(project), math.Sqrt(projectShare))
	s.add("ticket", uint64(ticket), math.Sqrt(ticketShare))
	return normalise(s.vector())
}

func compose(text string) *mixture {
	onTopic, worded := newMixture(), newMixture()
	weights := make([]float64, topics)
	for _, word := range strings.Fields(text) {
		rank, known := words().ranks[word]
		if !known {
			rank = vocabulary
		}
		// A rare word says more than a frequent one.
		weight := math.Log(2 + float64(rank)/20)
		worded.add("word", hash(word), weight)
		if topic := topicOf(rank); known && topic >= 0 {
			weights[topic] += weight
		}
	}
	for topic, weight := range weights {
		if weight > 0 {
			onTopic.add("topic", uint64(topic), weight)
			onTopic.add("area", uint64(topic%areas), weight)
		}
	}
	s := newMixture()
	addScaled(s.all, direction("common", 0), math.Sqrt(commonShare))
	s.add("noise", hash(text), math.Sqrt(noiseShare))
	addScaled(s.all, normalise(onTopic.vector()), math.Sqrt(topicShare))
	addScaled(s.all, normalise(worded.vector()), math.Sqrt(wordShare))
	return s
}

// mixture is a sum of things, each with a random direction of its own.
type mixture struct {
	all []float32
	few [fewDimensions]float64
}

func newMixture() *mixture { return &mixture{all: make([]float32, vector.Dimensions)} }

func (m *mixture) add(kind string, number uint64, weight float64) {
	addScaled(m.all, direction(kind, number), weight*math.Sqrt(1-fewShare))
	few := direction(kind+", few", number)
	scale := weight * math.Sqrt(fewShare*vector.Dimensions/fewDimensions)
	for i := range m.few {
		m.few[i] += scale * float64(few[i])
	}
}

// vector is the sum.
func (m *mixture) vector() []float32 {
	for i, weight := range m.few {
		addScaled(m.all, direction("axis", uint64(i)), weight)
		m.few[i] = 0
	}
	return m.all
}

// noise is a long line of normally distributed numbers; a piece of it, at any place, is a random
// direction.
var noise = sync.OnceValue(func() []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	line := make([]float32, 1<<20)
	for i := range line {
		line[i] = float32(random.NormFloat64() / math.Sqrt(vector.Dimensions))
	}
	return line
})

// direction is the random direction of a thing, about 1 long; nearly at right angles to those of
// other things.
func direction(kind string, number uint64) []float32 {
	line := noise()
	at := rand.NewPCG(hash(kind), number).Uint64() % uint64(len(line)-vector.Dimensions)
	return line[at : at+vector.Dimensions]
}

func addScaled(sum, v []float32, scale float64) {
	w := float32(scale)
	for i, x := range v[:len(sum)] {
		sum[i] += w * x
	}
}

// normalise scales a vector to length 1 in place; zeros stay zeros.
func normalise(v []float32) []float32 {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return v
	}
	scale := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= scale
	}
	return v
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// encodeVector writes a vector as pgvector sends it: the number of dimensions, two unused bytes,
// and the numbers.
func encodeVector(v []float32) []byte {
	raw := binary.BigEndian.AppendUint16(make([]byte, 0, 4+4*len(v)), uint16(len(v)))
	raw = binary.BigEndian.AppendUint16(raw, 0)
	for _, x := range v {
		raw = binary.BigEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}
