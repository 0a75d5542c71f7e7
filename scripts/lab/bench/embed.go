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

// The parts of a vector, as shares of its square. Unrelated texts have the cosine commonShare;
// topic, words, project and ticket add up to about 0.8. Clusters overlap: chunks have several
// topics, topics share areas, and all texts share words.
const (
	commonShare  = 0.30
	topicShare   = 0.30
	wordShare    = 0.25
	projectShare = 0.05
	ticketShare  = 0.05
	noiseShare   = 0.05
)

// areas are groups of related topics.
const areas = 20

// Real texts vary in some dozens of dimensions, not 1,536: half of what a word, ticket or topic
// adds lies in a few shared dimensions. Otherwise everything off topic would be equally distant,
// which no approximate index can handle.
const (
	fewDimensions = 32
	fewShare      = 0.5
)

// Embed is the embedding model of the generated collection: it knows the topic of each word, so a
// query is close to texts on its topic. It is deterministic.
func Embed(text string) []float32 { return normalise(compose(text).vector()) }

// embedChunk also knows the ticket and project of a text: texts of one ticket, or project, are
// related.
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
		// Rare words weigh more than frequent ones.
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

// mixture is a weighted sum of random directions.
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

// vector returns the sum.
func (m *mixture) vector() []float32 {
	for i, weight := range m.few {
		addScaled(m.all, direction("axis", uint64(i)), weight)
		m.few[i] = 0
	}
	return m.all
}

// noise is a long sequence of normally distributed numbers. Any slice of it is a random direction.
var noise = sync.OnceValue(func() []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	line := make([]float32, 1<<20)
	for i := range line {
		line[i] = float32(random.NormFloat64() / math.Sqrt(vector.Dimensions))
	}
	return line
})

// direction returns the random direction of a thing, of length about 1 and nearly orthogonal to the
// others.
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

// normalise scales a vector to length 1 in place. A zero vector is left alone.
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

// encodeVector writes pgvector's binary format: the number of dimensions, two unused bytes, and the
// numbers.
func encodeVector(v []float32) []byte {
	raw := binary.BigEndian.AppendUint16(make([]byte, 0, 4+4*len(v)), uint16(len(v)))
	raw = binary.BigEndian.AppendUint16(raw, 0)
	for _, x := range v {
		raw = binary.BigEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}
