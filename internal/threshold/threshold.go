// Package threshold says from which cosine similarity a text counts as relevant to a question. That depends on the
// model: two unrelated texts have a cosine of 0.1 with one and of 0.7 with another. The package owns the judged set by
// which a model is measured, how a threshold is chosen from it, and what holds before anything is measured. It knows
// neither how models are asked nor how the database is reached.
package threshold

import (
	"strings"

	"tasklens/internal/vector"
)

// Default is the threshold of a model of which nothing is known.
const Default = 0.7

// documented are thresholds of models until they are measured, from published vectors; see docs/models.md.
var documented = map[string]float64{
	"text-embedding-3-small": 0.28,
	"text-embedding-3-large": 0.28,
	"text-embedding-ada-002": 0.74,
}

// Origin says where a threshold comes from.
type Origin string

// The origins, in the order in which they count.
const (
	Set        Origin = "setting"    // MATCH_THRESHOLD
	IsMeasured Origin = "measured"   // with the judged set
	Documented Origin = "documented" // a constant for the model
	Unknown    Origin = "default"
)

// Fitting is the threshold that holds for a model at one width of its vectors.
type Fitting struct {
	Model      string    `json:"model"`
	Dimensions int       `json:"dimensions"`
	Threshold  float64   `json:"match_threshold"`
	Origin     Origin    `json:"origin"`
	Measured   *Measured `json:"measured"` // nil where nothing was measured
}

// Of gives the threshold for vectors of a stored model. setting is the operator's, nil where none is set.
func Of(model string, dimensions int, setting *float64, measured []Measured) Fitting {
	fitting := Fitting{Model: model, Dimensions: dimensions, Threshold: Default, Origin: Unknown}
	if constant, known := documented[baseName(model)]; known {
		fitting.Threshold, fitting.Origin = constant, Documented
	}
	for _, m := range measured {
		if m.Model == model && m.Dimensions == dimensions {
			fitting.Threshold, fitting.Origin, fitting.Measured = m.Threshold, IsMeasured, &m
		}
	}
	if setting != nil {
		fitting.Threshold, fitting.Origin = *setting, Set
	}
	return fitting
}

// baseName is the model's own name: a stored one may say in how many dimensions it was asked for, behind an @.
func baseName(model string) string {
	name, _, _ := strings.Cut(model, "@")
	return name
}

// Widths are the lengths of vectors that are compared: of tickets, and where documents take part.
var Widths = []int{vector.Dimensions, vector.ShortDimensions}
