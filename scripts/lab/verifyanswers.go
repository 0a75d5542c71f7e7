package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tasklens/scripts/lab/eval"
	figures "tasklens/scripts/lab/measure"
)

// share returns a rate: a failure below three quarters, a warning below nine tenths.
func share(n, of int) (string, error) {
	switch text := fmt.Sprintf("%d of %d", n, of); {
	case 4*n < 3*of:
		return text, errors.New("is less than three quarters")
	case 10*n < 9*of:
		return text, verdict{"warning", "is less than nine tenths"}
	default:
		return text, nil
	}
}

func seconds(took []float64) string {
	return fmt.Sprintf("p50 %.2f s, p95 %.2f s, of %d", figures.Quantile(took, 0.5), figures.Quantile(took, 0.95), len(took))
}

func (v *verification) answers(ctx context.Context) {
	const threshold, slow = "docs/models.md: set MATCH_THRESHOLD, or choose another model", "Choose regions near one another"
	v.title = "Search and answers"
	v.check(ctx, "searches", slow, func() (string, error) {
		var took []float64
		for _, q := range v.questions[:min(len(v.questions), 64)] {
			var page struct{ Degraded []string }
			begun := time.Now()
			if err := v.api(ctx, "/api/hybrid-search", map[string]any{"query": q.Question}, &page); err != nil || len(page.Degraded) > 0 {
				return "", cmp.Or(err, fmt.Errorf("no search by %v", page.Degraded))
			}
			took = append(took, time.Since(begun).Seconds())
		}
		return seconds(took), nil
	})
	service := eval.Service{URL: v.Model.ServiceURL, Token: v.key, Metrics: v.Metrics}
	var m eval.ModelCheck
	if v.check(ctx, "answers", slow, func() (_ string, err error) {
		m, err = eval.CheckModel(ctx, service, v.questions)
		return seconds(m.Took), err
	}) && m.Fitting.Measured != nil {
		v.line("ok", "threshold of the model", fmt.Sprintf("%.2f; %.0f%% of right and %.0f%% of unrelated texts are over it",
			m.Fitting.Threshold, 100*m.Fitting.Measured.RightOver, 100*m.Fitting.Measured.UnrelatedOver), "")
		v.check(ctx, "right ticket a source", threshold, func() (string, error) { return share(m.Sourced, m.Answerable) })
		v.check(ctx, "right ticket cited", threshold, func() (string, error) { return share(m.Cited, m.Answerable) })
		v.check(ctx, "abstained if unanswerable", threshold, func() (string, error) { return share(m.Abstained, m.Unanswerable) })
	}
	v.check(ctx, "right document in the first ten", threshold, func() (string, error) {
		questions, err := eval.ReadDocumentQuestions(v.Folder, eval.DocumentQuestions[0])
		if err != nil {
			return "", err
		}
		rows, err := eval.RankDocuments(ctx, service, questions)
		if err != nil {
			return "", err
		}
		return share(int(figures.Mean(rows[1].Recall10)*float64(len(questions))+0.5), len(questions))
	})
	v.check(ctx, "questions about fields", "Choose another CHAT_MODEL: docs/ask.md", func() (string, error) {
		asked := askConfig{SupabaseURL: v.SupabaseURL, Key: v.key, OpenAIBaseURL: cmp.Or(v.Model.OpenAIBaseURL, "https://api.openai.com/v1"), OpenAIKey: v.OpenAIKey, ChatModel: v.Model.ChatModel}
		rates, spent, err := asked.checkFields(ctx, v.Folder)
		m.ChatIn, m.ChatOut = m.ChatIn+spent.TokensIn, m.ChatOut+spent.TokensOut
		if err != nil {
			return "", err
		}
		right, all := 0, 0
		for _, rate := range rates {
			for verdict, n := range rate["all"] {
				all += n
				if verdict == "right" {
					right += n
				}
			}
		}
		return share(right, all)
	})
	v.check(ctx, "spent at most", "", func() (string, error) {
		m.EmbeddingTokens += v.loaded // as if the service's worker had embedded none of it
		price := "no known price"
		if dollars := v.Model.cost(m.EmbeddingTokens, m.ChatIn, m.ChatOut); dollars >= 0 {
			price = fmt.Sprintf("$%.3f", dollars)
		}
		return fmt.Sprintf("%d tokens embedded, %d read, %d written: %s", m.EmbeddingTokens, m.ChatIn, m.ChatOut, price), nil
	})
}

// edit measures how soon a ticket's new text is found.
func (v *verification) edit(ctx context.Context) (string, error) {
	var took []float64
	for _, text := range []string{
		"The espresso machine on the third floor leaks hot water.", "Bees nest in the ventilation shaft above the lobby.", "The elevator stops between floors when it rains.",
		"Visitors cannot find the bicycle parking behind the warehouse.", "The canteen runs out of vegetarian lunch before noon.",
	} {
		if _, err := v.rest(ctx, http.MethodPatch, "tickets?key=eq."+verifyProject+"-400", map[string]any{"description": text}, nil); err != nil {
			return "", err
		}
		committed := time.Now()
		if err := until(ctx, time.Minute, func() error {
			var page struct {
				Results []struct{ Source, Text string }
			}
			err := v.api(ctx, "/api/hybrid-search", map[string]any{"query": text}, &page)
			for _, hit := range page.Results {
				if hit.Source == "vector" && strings.Contains(hit.Text, text) {
					return nil
				}
			}
			return cmp.Or(err, fmt.Errorf("%q is not found within a minute", text))
		}); err != nil {
			return "", err
		}
		took = append(took, time.Since(committed).Seconds())
	}
	return seconds(took), nil
}
