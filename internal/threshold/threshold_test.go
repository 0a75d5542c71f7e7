package threshold

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/tokenizer"
	"tasklens/internal/vector"
)

func TestThresholdOfAModel(t *testing.T) {
	t.Parallel()
	measured := []Measured{
		{Model: "text-embedding-3-small", Dimensions: 1536, Threshold: 0.31}, {Model: "text-embedding-3-small", Dimensions: 768, Threshold: 0.33},
		{Model: "other", Dimensions: 1536, Threshold: 0.5},
	}
	for name, c := range map[string]struct {
		model   string
		width   int
		setting *float64
		want    float64
		origin  Origin
	}{
		"configured":                       {"other", 1536, new(0.0), 0, Set},
		"measured":                         {"text-embedding-3-small", 1536, nil, 0.31, IsMeasured},
		"measured with 768 dimensions":     {"text-embedding-3-small", 768, nil, 0.33, IsMeasured},
		"documented":                       {"text-embedding-ada-002", 1536, nil, 0.74, Documented},
		"documented with fewer dimensions": {"text-embedding-3-small@512", 1536, nil, 0.28, Documented},
		"measured with other dimensions":   {"other", 768, nil, 0.7, Unknown},
		"unknown":                          {"unknown", 1536, nil, 0.7, Unknown},
	} {
		if got := Of(c.model, c.width, c.setting, measured); got.Threshold != c.want || got.Origin != c.origin || (got.Measured != nil) != (c.origin == IsMeasured || c.origin == Set) {
			t.Errorf("%s: got %+v, want %v, %s", name, got, c.want, c.origin)
		}
	}
}

// 95% of the right values are strictly above the threshold, the highest such multiple of 0.01, or
// 95% of the unrelated ones are not, if that takes a higher one.
func TestFittingThreshold(t *testing.T) {
	t.Parallel()
	ramp := make([]float64, 100)
	for i := range ramp {
		ramp[i] = float64(i+1) / 200 // 0.005 to 0.500
	}
	for name, c := range map[string]struct {
		right, unrelated []float64
		want             float64
	}{
		"a ramp":                       {ramp, []float64{-1}, 0.02}, // 96 values are above 0.02, and 94 above 0.03
		"one value":                    {[]float64{0.314}, []float64{0.3}, 0.31},
		"a multiple of 0.01":           {[]float64{0.31}, []float64{0.3}, 0.30},
		"negative":                     {[]float64{-0.2, 0.5}, []float64{-0.3}, 0},
		"right and unrelated are like": {ramp, ramp, 0.48}, // 0.475 is the 95th
		"unrelated are nearer":         {[]float64{0.1}, []float64{0.314}, 0.32},
		"all are equal":                {[]float64{1}, []float64{1}, 0.99},
	} {
		if got := fitting(c.right, c.unrelated); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// words is a weak model, which knows nothing but which words two texts share.
type words struct{}

func (words) Embed(_ context.Context, _ string, inputs []string) (vectors []vector.Vector, cut []int, err error) {
	for _, input := range inputs {
		v := make(vector.Vector, vector.Dimensions)
		for word := range strings.FieldsSeq(strings.ToLower(input)) {
			hash := fnv.New32a()
			_, _ = hash.Write([]byte(word))
			v[hash.Sum32()%vector.ShortDimensions]++
		}
		length := float32(math.Sqrt(cosine(v, v)))
		for i := range v {
			v[i] /= length
		}
		vectors = append(vectors, v)
	}
	return vectors, nil, nil
}

// Of the right texts 95% exceed a threshold of this model that lets most unrelated ones pass too.
func TestThresholdOfAWeakModel(t *testing.T) {
	t.Parallel()
	all, err := measure(t.Context(), words{}, tokenizer.Load(), "words")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.UnrelatedOver > 0.08 || m.Threshold <= m.UnrelatedMedian || m.UnrelatedMedian <= 0 || m.RightOver <= 4*m.UnrelatedOver {
			t.Errorf("with %d dimensions the threshold is %v: %.2f of the right texts pass and %.2f of the unrelated ones, whose median is %.2f",
				m.Dimensions, m.Threshold, m.RightOver, m.UnrelatedOver, m.UnrelatedMedian)
		}
	}
}

// axes is a model that embeds a text as the axis of its first letter.
type axes struct{ fails bool }

func (a axes) Embed(_ context.Context, _ string, inputs []string) (vectors []vector.Vector, cut []int, err error) {
	if a.fails {
		return nil, nil, errors.New("no such model")
	}
	for _, input := range inputs {
		v := make(vector.Vector, vector.Dimensions)
		v[int(input[0])%vector.ShortDimensions] = 1
		vectors = append(vectors, v)
	}
	return vectors, nil, nil
}

// kept is a database that stores measurements in memory.
type kept []Measured

func (k *kept) Call(_ context.Context, function string, arguments, _ any) error {
	if function != "store_match_thresholds" {
		return errors.New(function)
	}
	*k = append(*k, arguments.(map[string]any)["thresholds"].([]Measured)...)
	return nil
}

func TestMeasureMissing(t *testing.T) {
	t.Parallel()
	var database kept
	all, err := MeasureMissing(t.Context(), &database, axes{}, tokenizer.Load(), []string{"one", "two", "one"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(database) != 4 || len(all) != 4 || database[1].Model != "one" || database[1].Dimensions != 768 || database[2].Model != "two" {
		t.Errorf("the stored measurements are %+v", database)
	}
	known := slices.Clone(database)
	known[1].JudgedSet = "another"
	if all, err := MeasureMissing(t.Context(), &database, axes{}, tokenizer.Load(), []string{"one", "two"}, known); err != nil || len(all) != 2 || all[0].Model != "one" {
		t.Errorf("with a measurement on another judged set: %+v, %v", all, err)
	}
	if all, err := MeasureMissing(t.Context(), &database, axes{fails: true}, tokenizer.Load(), []string{"three"}, known); err == nil || len(all) > 0 || len(database) != 6 {
		t.Errorf("a failing model returned %v, %v", all, err)
	}
}
