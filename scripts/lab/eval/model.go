package eval

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tasklens/internal/threshold"
	"tasklens/internal/vector"
	"tasklens/scripts/lab/web"
)

// ModelCheck is a model's result on the judged set and a collection's questions, with its token
// use.
type ModelCheck struct {
	Fitting                          threshold.Fitting // for tickets
	Answerable, Sourced, Cited       int               // questions with an answer
	Unanswerable, Abstained          int               // and without
	Paraphrases, InFirst3            int
	EmbeddingTokens, ChatIn, ChatOut int // of the service, since it started
}

// CheckModel sends every question to a service with default settings, and searches for every
// paraphrase. Token counts start with the service.
func CheckModel(ctx context.Context, service Service, questions, paraphrases []Asked) (check ModelCheck, err error) {
	var status struct {
		Thresholds []threshold.Fitting `json:"match_thresholds"`
	}
	if err := service.get(ctx, "/api/embeddings/status", &status); err != nil {
		return check, fmt.Errorf("read the model's threshold: %w", err)
	}
	for _, f := range status.Thresholds {
		if f.Dimensions == vector.Dimensions && f.Measured != nil {
			check.Fitting = f
		}
	}
	if check.Fitting.Measured == nil {
		return check, fmt.Errorf("the model's threshold is not measured yet: import something first")
	}
	rates, err := CheckAnswers(ctx, service, questions, func(string) {})
	if err != nil {
		return check, err
	}
	for _, r := range rates {
		check.Answerable, check.Sourced, check.Cited = check.Answerable+r.Answerable, check.Sourced+r.Sourced, check.Cited+r.Cited
		check.Unanswerable, check.Abstained = check.Unanswerable+r.Unanswerable, check.Abstained+r.Abstained
	}
	found, err := CheckParaphrases(ctx, service, paraphrases)
	if err != nil {
		return check, err
	}
	for _, f := range found {
		check.Paraphrases, check.InFirst3 = check.Paraphrases+f.All, check.InFirst3+f.InFirst3
	}
	return check, check.countTokens(ctx, service)
}

// countTokens reads the service's metrics.
func (c *ModelCheck) countTokens(ctx context.Context, service Service) error {
	values, err := web.Metrics(ctx, service.URL)
	for series, tokens := range values {
		switch {
		case !strings.HasPrefix(series, "tasklens_model_tokens_total{"):
		case strings.Contains(series, `operation="embeddings"`):
			c.EmbeddingTokens += int(tokens)
		case strings.Contains(series, `direction="input"`):
			c.ChatIn += int(tokens)
		default:
			c.ChatOut += int(tokens)
		}
	}
	return err
}

// Print prints the check as a Markdown table; see docs/models.md. dollars is negative if the price
// is unknown.
func (c ModelCheck) Print(to io.Writer, dollars float64) error {
	cost := "not known"
	if dollars >= 0 {
		cost = fmt.Sprintf("$%.4f", dollars)
	}
	m := c.Fitting.Measured
	_, err := fmt.Fprintf(to, `| model | threshold | right texts over it | related | unrelated | median of the unrelated | right source | cited | abstained | paraphrases in the first three | tokens embedded, read, written | cost |
|---|---|---|---|---|---|---|---|---|---|---|---|
| %s | %.2f | %.1f%% | %.1f%% | %.1f%% | %.2f | %d of %d | %d | %d of %d | %d of %d | %d, %d, %d | %s |
`, c.Fitting.Model, c.Fitting.Threshold, 100*m.RightOver, 100*m.RelatedOver, 100*m.UnrelatedOver, m.UnrelatedMedian,
		c.Sourced, c.Answerable, c.Cited, c.Abstained, c.Unanswerable, c.InFirst3, c.Paraphrases, c.EmbeddingTokens, c.ChatIn, c.ChatOut, cost)
	return err
}
