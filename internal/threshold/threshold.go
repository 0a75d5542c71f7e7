// Package threshold determines the cosine similarity from which a text counts as relevant to a
// question. It depends on the model: two unrelated texts have a cosine of 0.1 with one and 0.7 with
// another. The package owns the judged set, how a threshold is fitted to it, and the defaults for
// models not measured yet. It does not know how models or the database are called.
package threshold

import (
	"strings"

	"tasklens/internal/vector"
)

// Default is the threshold for an unknown model.
const Default = 0.7

// documented are thresholds for models not measured yet, from published vectors; see
// docs/models.md.
var documented = map[string]float64{
	"text-embedding-3-small": 0.28,
	"text-embedding-3-large": 0.28,
	"text-embedding-ada-002": 0.74,
}

// Origin tells where a threshold comes from.
type Origin string

// Origins, in order of precedence.
const (
	Set        Origin = "setting"    // MATCH_THRESHOLD
	IsMeasured Origin = "measured"   // with the judged set
	Documented Origin = "documented" // a constant for the model
	Unknown    Origin = "default"
)

// Fitting is the threshold in effect for a model at one vector width.
type Fitting struct {
	_ struct{} `schema:"FittingThreshold"`

	Model      string    `json:"model" example:"text-embedding-3-small"`
	Dimensions int       `json:"dimensions" min:"1" example:"1536" doc:"768 if documents take part."`
	Threshold  float64   `json:"match_threshold" min:"0" max:"1" example:"0.28"`
	Origin     Origin    `json:"origin" enum:"setting,measured,documented,default" example:"documented" doc:"The operator's MATCH_THRESHOLD, a measurement, a documented constant of the model, or the default of 0.7."`
	Measured   *Measured `json:"measured" example:"null" doc:"Shares are of the half of the judged set that did not choose the threshold."`
}

// Measured is the measurement of a model at one vector width.
type Measured struct {
	Model      string  `json:"embedding_model"`
	Dimensions int     `json:"dimensions" min:"1"`
	Threshold  float64 `json:"match_threshold" min:"0" max:"1"`
	// Shares of the held-out pairs above the threshold: questions with the text that answers them,
	// with other texts of the topic, and with texts of other topics.
	RightOver       float64 `json:"right_over" min:"0" max:"1" doc:"Questions whose right text exceeds the threshold."`
	RelatedOver     float64 `json:"related_over" min:"0" max:"1" doc:"Other texts of the same topic that exceed it."`
	UnrelatedOver   float64 `json:"unrelated_over" min:"0" max:"1" doc:"Texts of other topics that exceed it."`
	UnrelatedMedian float64 `json:"unrelated_median" doc:"The median cosine of questions and texts of other topics."`
	JudgedSet       string  `json:"judged_set" doc:"A fingerprint of the judged set."`
}

// Of returns the threshold for vectors of a stored model. setting is the operator's threshold, or
// nil.
func Of(model string, dimensions int, setting *float64, measured []Measured) Fitting {
	fitting := Fitting{Model: model, Dimensions: dimensions, Threshold: Default, Origin: Unknown}
	name, _, _ := strings.Cut(model, "@") // of the provider; a stored name may append the dimensions
	if constant, known := documented[name]; known {
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

// Widths are the vector widths that searches compare: tickets, and searches that include documents.
var Widths = []int{vector.Dimensions, vector.ShortDimensions}
