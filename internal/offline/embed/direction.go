package embed

// A sum adds up directions in integers. A direction is 1536 numbers of ±1 drawn from splitmix64 seeded with a feature's
// hash: any two are nearly at right angles (their cosine is 0 ± 0.026), and none is stored.
//
// Four 16-bit counters share a uint64, so that one multiplication adds four numbers: each counter adds the weight where
// the direction's bit is 1, and at the end 2·counter − all weights is the sum of ±weight. Before a counter could
// overflow, all are spilled into total.
type sum struct {
	counters [Dimensions / 4]uint64
	pending  int64 // weight in counters
	weight   int64 // weight in total
	total    [Dimensions]int64
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

// numbers returns the sum of the weighted directions.
func (s *sum) numbers() *[Dimensions]int64 {
	s.spill()
	for i, n := range s.total {
		s.total[i] = 2*n - s.weight
	}
	s.weight = 0
	return &s.total
}

const splitmixStep = 0x9e3779b97f4a7c15

// mix is the output function of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(z uint64) uint64 {
	z += splitmixStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
