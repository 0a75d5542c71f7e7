package embed

// A sum adds up the directions of features in integers. A concept has its own axis. The many other
// features have wordNumbers numbers of ±1 from splitmix64, seeded with the feature's hash: any two
// are nearly orthogonal (cosine 0 ± 0.031), and none is stored.
// Four 16-bit counters share a uint64, so that one multiplication adds four numbers: each counter
// adds the weight where the direction's bit is 1, and at the end 2·counter − all weights is the sum
// of ±weight. Before a counter could overflow, all are spilled into total.
type sum struct {
	counters [wordNumbers / 4]uint64
	pending  int64 // weight in counters
	weight   int64 // weight in total
	total    [wordNumbers]int64
	axes     [conceptNumbers]int64 // weights of concepts by their number
	square   int64                 // of all weights
}

const counterMax = 1<<16 - 1

// lanes[n] has a 1 in counter i where bit i of n is set.
var lanes = func() (t [16]uint64) {
	for n := range t {
		for bit := range 4 {
			t[n] |= uint64(n>>bit&1) << (16 * bit)
		}
	}
	return t
}()

func (s *sum) add(f Feature) {
	weight := int64(min(f.Weight, counterMax))
	s.square += weight * weight
	if 0 < f.concept && f.concept < conceptNumbers {
		s.axes[f.concept] += weight
		return
	}
	if s.pending+weight > counterMax {
		s.spill()
	}
	s.pending += weight
	var weighted [16]uint64
	for n := range weighted {
		weighted[n] = lanes[n] * uint64(weight)
	}
	state := f.Hash
	for i := 0; i < len(s.counters); i += 16 {
		bits := mix(state)
		state += splitmixStep
		counters := (*[16]uint64)(s.counters[i : i+16])
		for j := range counters {
			counters[j] += weighted[bits&15]
			bits >>= 4
		}
	}
}

func (s *sum) spill() {
	for i, c := range s.counters {
		for lane := range 4 {
			s.total[4*i+lane] += int64(c >> (16 * lane) & counterMax)
		}
		s.counters[i] = 0
	}
	s.weight += s.pending
	s.pending = 0
}

// words returns the weighted sum of the directions of all features except concepts.
func (s *sum) words() *[wordNumbers]int64 {
	s.spill()
	for i, n := range s.total {
		s.total[i] = 2*n - s.weight
	}
	s.weight = 0
	return &s.total
}

// concepts returns the weighted sum of the directions of concepts: Walsh functions (rows of
// Sylvester's Hadamard matrix), so ±1 and orthogonal. The columns are shuffled, so that rows also
// differ in a part of them, where a vector is truncated to less than half.
func (s *sum) concepts() *[conceptNumbers]int64 {
	for half := 1; half < conceptNumbers; half *= 2 { // the fast Walsh–Hadamard transform
		for start := 0; start < conceptNumbers; start += 2 * half {
			for i := start; i < start+half; i++ {
				a, b := s.axes[i], s.axes[i+half]
				s.axes[i], s.axes[i+half] = a+b, a-b
			}
		}
	}
	var out [conceptNumbers]int64
	for i, column := range columns {
		out[i] = s.axes[column]
	}
	return &out
}

// columns are 0..conceptNumbers-1, shuffled (Fisher and Yates).
var columns = func() (c [conceptNumbers]int) {
	for i := range c {
		c[i] = i
	}
	for i := len(c) - 1; i > 0; i-- {
		j := mix(uint64(i)) % uint64(i+1)
		c[i], c[j] = c[j], c[i]
	}
	return c
}()

const splitmixStep = 0x9e3779b97f4a7c15

// mix is the output function of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
func mix(z uint64) uint64 {
	z += splitmixStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
