package threshold

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sync"

	"tasklens/internal/chunk"
	"tasklens/internal/vector"
)

// The threshold is as high as leastRight of the right texts allow, or higher if fewer than
// leastUnder of the unrelated texts would stay under it: with a weak model a right text may be no
// nearer to its question than an unrelated one, and everything would pass.
const (
	leastRight = 0.95
	leastUnder = 0.95
)

// greatest lets a text pass that equals the question, whatever the model.
const greatest = 0.99

// Model embeds texts with any of a provider's models.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, tokens int, err error)
}

// Measured is the measurement of a model at one vector width.
type Measured struct {
	Model      string  `json:"embedding_model"`
	Dimensions int     `json:"dimensions" min:"1"`
	Threshold  float64 `json:"match_threshold" min:"0" max:"1"`
	// Shares of the held-out pairs above the threshold: questions with the text that answers them,
	// with other texts of the topic, and with texts of other topics.
	RightOver       float64 `json:"right_over" min:"0" max:"1" doc:"The share of questions whose right text exceeds the threshold."`
	RelatedOver     float64 `json:"related_over" min:"0" max:"1" doc:"The share of other texts of the same topic that exceed it."`
	UnrelatedOver   float64 `json:"unrelated_over" min:"0" max:"1" doc:"The share of texts of other topics that exceed it."`
	UnrelatedMedian float64 `json:"unrelated_median" doc:"The median cosine of all questions and texts of other topics."`
	JudgedSet       string  `json:"judged_set" doc:"A fingerprint of the judged set."`
}

// judgedSet is the fingerprint of the judged set and the rule. A measurement by another is
// repeated.
var judgedSet = sync.OnceValue(func() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%v %v", judgedLines, leastRight, leastUnder))
	return hex.EncodeToString(sum[:8])
})

// Measure embeds the judged set once and fits a threshold for each width: vector.Dimensions for
// tickets, and vector.ShortDimensions for searches that include documents.
func Measure(ctx context.Context, model Model, name string, tokenizer chunk.Tokenizer) ([]Measured, error) {
	all, err := judged()
	if err != nil {
		return nil, err
	}
	inputs, err := Inputs(tokenizer)
	if err != nil {
		return nil, err
	}
	vectors, _, err := model.Embed(ctx, name, inputs)
	if err != nil {
		return nil, fmt.Errorf("embed the judged set: %w", err)
	}
	var fitted []Measured
	for _, width := range Widths {
		if width == vector.ShortDimensions {
			for i, v := range vectors {
				if vectors[i], err = v.Short(); err != nil {
					return nil, err
				}
			}
		}
		m := fit(all, vectors)
		m.Model, m.Dimensions, m.JudgedSet = name, width, judgedSet()
		fitted = append(fitted, m)
	}
	return fitted, nil
}

// Inputs returns the texts to embed for the judged set: each question followed by its text.
func Inputs(tokenizer chunk.Tokenizer) (inputs []string, err error) {
	all, err := judged()
	for _, j := range all {
		inputs = append(inputs, j.Question, j.input(tokenizer))
	}
	return inputs, err
}

// cosine is the inner product, because both vectors have length 1.
func cosine(a, b vector.Vector) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// fit fits a threshold to one half of the judged set and validates it with the other. vectors are
// in the order of Inputs.
func fit(all []judgement, vectors []vector.Vector) (m Measured) {
	right, related, unrelated := map[string][]float64{}, map[string][]float64{}, map[string][]float64{} // by half
	for i, question := range all {
		for j, text := range all {
			of := unrelated
			switch {
			case question.Half != text.Half:
				continue
			case i == j:
				of = right
			case question.Topic == text.Topic:
				of = related
			}
			of[question.Half] = append(of[question.Half], cosine(vectors[2*i], vectors[2*j+1]))
		}
	}
	m.Threshold = fitting(right[choosing], unrelated[choosing])
	m.RightOver = shareOver(right[checking], m.Threshold)
	m.RelatedOver = shareOver(related[checking], m.Threshold)
	m.UnrelatedOver = shareOver(unrelated[checking], m.Threshold)
	sorted := slices.Sorted(slices.Values(slices.Concat(unrelated[choosing], unrelated[checking])))
	m.UnrelatedMedian = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return m
}

// fitting returns a threshold in hundredths, 0 to greatest. A negative cosine means an unrelated
// text.
func fitting(right, unrelated []float64) float64 {
	right, unrelated = slices.Sorted(slices.Values(right)), slices.Sorted(slices.Values(unrelated))
	least := right[int(float64(len(right))*(1-leastRight))]
	most := unrelated[int(math.Ceil(float64(len(unrelated))*leastUnder))-1]
	return min(max(0, math.Ceil(least*100-1)/100, math.Ceil(most*100)/100), greatest)
}

func shareOver(cosines []float64, threshold float64) float64 {
	over := 0
	for _, x := range cosines {
		if x > threshold {
			over++
		}
	}
	return float64(over) / float64(len(cosines))
}
