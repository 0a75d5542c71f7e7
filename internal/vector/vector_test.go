package vector

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func cosine(a, b []float32) float64 {
	var product, first, second float64
	for i := range min(len(a), len(b)) {
		product += float64(a[i]) * float64(b[i])
	}
	for _, x := range a {
		first += float64(x) * float64(x)
	}
	for _, x := range b {
		second += float64(x) * float64(x)
	}
	return product / math.Sqrt(first*second)
}

// A fitted vector has the database's dimensions and length 1. Fitting preserves cosines.
func TestFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 512, Dimensions}).Draw(t, "size")
		draw := func(name string) []float32 {
			numbers := rapid.SliceOfN(rapid.Float32Range(-1e10, 1e10), size, size).Draw(t, name)
			numbers[0] += 1e-3 // not all numbers are 0
			if numbers[0] == 0 {
				numbers[0] = 1
			}
			return numbers
		}
		a, b := draw("a"), draw("b")
		fittedA, err := Fit(a)
		if err != nil {
			t.Fatal(err)
		}
		fittedB, err := Fit(b)
		if err != nil {
			t.Fatal(err)
		}
		if len(fittedA) != Dimensions {
			t.Fatalf("the fitted vector has %d numbers", len(fittedA))
		}
		if own := cosine(fittedA, fittedA); math.Abs(own-1) > 1e-6 {
			t.Fatalf("the fitted vector's cosine with itself is %v", own)
		}
		sum := 0.0
		for _, x := range fittedA {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("the squares of the fitted vector add up to %v", sum)
		}
		if before, after := cosine(a, b), cosine(fittedA, fittedB); math.Abs(before-after) > 1e-5 {
			t.Fatalf("fitting changed the cosine from %v to %v", before, after)
		}
	})
}

func TestFitErrors(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, numbers := range map[string][]float32{
		"no numbers": nil, "zeros": {0, 0, 0}, "too many numbers": make([]float32, Dimensions+1), "NaN": {1, nan}, "infinity": {inf, 1},
	} {
		if fitted, err := Fit(numbers); err == nil || fitted != nil {
			t.Errorf("%s: got %v, %v; want an error", name, fitted, err)
		}
	}
	// Even the smallest float32 has a direction.
	if fitted, err := Fit([]float32{math.SmallestNonzeroFloat32}); err != nil || fitted[0] != 1 {
		t.Errorf("the smallest positive number returned the error %v or changed its direction", err)
	}
}

// The encoding is pgvector's in a JSON string and loses no precision.
func TestMarshal(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Vector{0.5, -1, 1e-20, 0})
	if err != nil || string(text) != `"[0.5,-1,1e-20,0]"` {
		t.Errorf("the vector is encoded as %s, %v", text, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := Vector(rapid.SliceOfN(rapid.Float32Range(-1, 1), 1, 20).Draw(t, "v"))
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back []float32
		if err := json.Unmarshal([]byte(strings.Trim(string(text), `"`)), &back); err != nil {
			t.Fatal(err)
		}
		for i, x := range v {
			if back[i] != x {
				t.Fatalf("%v was decoded as %v", x, back[i])
			}
		}
	})
}

func TestShort(t *testing.T) {
	t.Parallel()
	whole := make(Vector, Dimensions)
	whole[0], whole[ShortDimensions-1], whole[ShortDimensions] = 0.3, 0.4, 0.8
	short, err := whole.Short()
	if err != nil || len(short) != ShortDimensions {
		t.Fatalf("the shortened vector has %d numbers: %v", len(short), err)
	}
	if math.Abs(float64(short[0])-0.6) > 1e-6 || math.Abs(float64(short[ShortDimensions-1])-0.8) > 1e-6 {
		t.Errorf("the shortened vector is %v … %v", short[0], short[ShortDimensions-1])
	}
	if whole[0] != 0.3 {
		t.Error("Short modified the original vector")
	}
	if padded, err := (Vector{3, 4}).Short(); err != nil || len(padded) != ShortDimensions || math.Abs(float64(padded[1])-0.8) > 1e-6 {
		t.Errorf("a vector that is already shorter becomes %d numbers: %v", len(padded), err)
	}
	whole[0], whole[ShortDimensions-1] = 0, 0
	if _, err := whole.Short(); err == nil {
		t.Error("a vector that is zero after shortening was accepted")
	}
}
