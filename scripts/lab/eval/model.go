package eval

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

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
	Questions                        int // more than were asked if there was no time for all
	Asking, Searching                attempts
}

// CheckModel asks a service questions, one after another and none once it has taken as long as it
// may, and searches for every paraphrase. Single failures are counted. Token counts start with the
// service.
func CheckModel(ctx context.Context, service Service, questions, paraphrases []Asked, most time.Duration, progress func(step string)) (check ModelCheck, err error) {
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
	projects, err := service.projectKeys(ctx)
	if err != nil {
		return check, err
	}
	rates, begun, shown := Rates{}, time.Now(), time.Time{}
	for asked, q := range spread(questions) {
		if asked > 0 && time.Since(begun) >= most {
			break
		}
		if time.Since(shown) > 10*time.Second {
			progress(fmt.Sprintf("asking question %d of %d", asked+1, len(questions)))
			shown = time.Now()
		}
		var got answered
		switch done, err := check.Asking.try(func() error {
			return service.post(ctx, "/api/query", map[string]any{"question": q.Question}, &got)
		}); {
		case err != nil:
			return check, fmt.Errorf("ask %q: %w", q.Question, err)
		case done:
			rates.count(q, got, projects)
		}
	}
	check.Questions, check.Answerable, check.Sourced, check.Cited = len(questions), rates.Answerable, rates.Sourced, rates.Cited
	check.Unanswerable, check.Abstained = rates.Unanswerable, rates.Abstained
	progress(fmt.Sprintf("searching for %d paraphrases", len(paraphrases)))
	for _, q := range paraphrases {
		var found bool
		switch done, err := check.Searching.try(func() (err error) { found, err = service.inFirst3(ctx, q); return err }); {
		case err != nil:
			return check, err
		case done:
			check.Paraphrases, check.InFirst3 = check.Paraphrases+1, check.InFirst3+one(found)
		}
	}
	return check, check.countTokens(ctx, service)
}

// spread returns questions in an order whose beginning, however long, is a fair part of all.
func spread(questions []Asked) []Asked {
	place := map[string]float64{}
	for i, q := range questions {
		_, place[q.Question] = math.Modf(float64(i) * math.Phi)
	}
	return slices.SortedFunc(slices.Values(questions), func(a, b Asked) int { return cmp.Compare(place[a.Question], place[b.Question]) })
}

// attempts are requests of one kind.
type attempts struct {
	took   []time.Duration
	failed []error
	inARow int
}

// hopeless is how many failures in a row end a check.
const hopeless = 3

// try times an attempt, and reports whether it succeeded; an error: there is no hope.
func (a *attempts) try(attempt func() error) (done bool, hopes error) {
	begun := time.Now()
	err := attempt()
	if err == nil {
		a.took, a.inARow = append(a.took, time.Since(begun)), 0
		return true, nil
	}
	a.failed = append(a.failed, err)
	if a.inARow++; a.inARow == hopeless {
		return false, fmt.Errorf("%d failures in a row: %w", hopeless, err)
	}
	return false, nil
}

// print prints how long the attempts took, how long the service waits for the model by default if
// that is less, and what failed.
func (a *attempts) print(to io.Writer, what string, usual time.Duration) {
	slices.Sort(a.took)
	if n := len(a.took); n > 0 {
		fmt.Fprintf(to, "%d %s took %.1f s at the median, %.1f s at most.", n, what, a.took[n/2].Seconds(), a.took[n-1].Seconds())
		if a.took[n-1] > usual {
			fmt.Fprintf(to, " By default the service waits %.1f s for the model: see \"A slow model\" in docs/models.md.", usual.Seconds())
		}
	}
	if n := len(a.failed); n > 0 {
		fmt.Fprintf(to, " %d failed and are not counted, at last: %v", n, a.failed[n-1])
	}
	fmt.Fprintln(to)
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
	if err == nil {
		fmt.Fprintln(to)
		if asked := len(c.Asking.took) + len(c.Asking.failed); asked < c.Questions {
			fmt.Fprintf(to, "There was time for %d of %d questions.\n", asked, c.Questions)
		}
		c.Asking.print(to, "answers", 20*time.Second)
		c.Searching.print(to, "searches", 1200*time.Millisecond)
	}
	return err
}
