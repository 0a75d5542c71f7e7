package threshold

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"tasklens/internal/chunk"
	"tasklens/internal/rpc"
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

// judgedLines has one ticket per line with a question that its text answers. Four tickets share a
// topic, so each question has one right text and three related ones. The set was written for this
// purpose: nothing comes from a tracker, the sample workspace or an evaluation.
//
//go:embed judged.jsonl
var judgedLines []byte

// Halves of the judged set, by topic. The threshold is fitted on one and validated on the other.
const (
	choosing = "choose"
	checking = "report"
)

// judgement is a question and the ticket that answers it.
type judgement struct {
	Topic, Half, Question, Project, Name, Description string
}

var judged = sync.OnceValue(func() (all []judgement) {
	for line := range bytes.Lines(judgedLines) {
		var one judgement
		if err := json.Unmarshal(line, &one); err != nil {
			panic(fmt.Sprintf("the judged set: %v", err))
		}
		all = append(all, one)
	}
	return all
})

// judgedSet is the fingerprint of the judged set and the rule. A measurement by another is
// repeated.
var judgedSet = sync.OnceValue(func() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%v %v", judgedLines, leastRight, leastUnder))
	return hex.EncodeToString(sum[:8])
})

// Inputs returns the texts to embed for the judged set: each question followed by the text that
// indexing would embed for its ticket.
func Inputs(tokenizer chunk.Tokenizer) (inputs []string) {
	for _, j := range judged() {
		inputs = append(inputs, j.Question, chunk.Input(chunk.Header(tokenizer, j.Project, j.Name), j.Name+"\n\n"+j.Description))
	}
	return inputs
}

// Model embeds texts with any of a provider's models.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, cut []int, err error)
}

// MeasureMissing measures the models without a complete measurement by the current judged set and
// stores the results in the database, for all instances.
func MeasureMissing(ctx context.Context, db rpc.Caller, model Model, tokenizer chunk.Tokenizer, names []string, known []Measured) (added []Measured, err error) {
	for _, name := range names {
		if measured := slices.Concat(known, added); isMeasured(name, vector.Dimensions, measured) && isMeasured(name, vector.ShortDimensions, measured) {
			continue
		}
		measured, err := measure(ctx, model, tokenizer, name)
		if err == nil {
			err = db.Call(ctx, "store_match_thresholds", map[string]any{"thresholds": measured}, nil)
		}
		if err != nil {
			return added, fmt.Errorf("measure the threshold of %s: %w", name, err)
		}
		added = append(added, measured...)
	}
	return added, nil
}

func isMeasured(model string, width int, measured []Measured) bool {
	return slices.ContainsFunc(measured, func(m Measured) bool { return m.Model == model && m.Dimensions == width && m.JudgedSet == judgedSet() })
}

// measure embeds the judged set once and fits a threshold for each width.
func measure(ctx context.Context, model Model, tokenizer chunk.Tokenizer, name string) ([]Measured, error) {
	vectors, _, err := model.Embed(ctx, name, Inputs(tokenizer))
	if err != nil {
		return nil, fmt.Errorf("embed the judged set: %w", err)
	}
	long := fit(vectors)
	for i, v := range vectors {
		if vectors[i], err = v.Short(); err != nil {
			return nil, err
		}
	}
	short := fit(vectors)
	long.Model, long.Dimensions = name, vector.Dimensions
	short.Model, short.Dimensions = name, vector.ShortDimensions
	return []Measured{long, short}, nil
}

// fit fits a threshold to one half of the judged set and validates it with the other. vectors are
// in the order of Inputs.
func fit(vectors []vector.Vector) Measured {
	right, related, unrelated := map[string][]float64{}, map[string][]float64{}, map[string][]float64{} // by half
	for i, question := range judged() {
		for j, text := range judged() {
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
	threshold := fitting(right[choosing], unrelated[choosing])
	all := slices.Sorted(slices.Values(slices.Concat(unrelated[choosing], unrelated[checking])))
	return Measured{
		Threshold: threshold, JudgedSet: judgedSet(), UnrelatedMedian: (all[(len(all)-1)/2] + all[len(all)/2]) / 2,
		RightOver: shareOver(right[checking], threshold), RelatedOver: shareOver(related[checking], threshold),
		UnrelatedOver: shareOver(unrelated[checking], threshold),
	}
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

// cosine is the inner product, because both vectors have length 1.
func cosine(a, b vector.Vector) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
