package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
	"tasklens/internal/querylog"
	"tasklens/internal/search"
)

// logAnswer has the log keep a question and what came of it, or how far it came before err.
func (a *API) logAnswer(ctx context.Context, started time.Time, question answer.Question, made memo.Made, origin memo.Origin, streamed bool, err error) {
	if a.QueryLog == nil && a.Metrics == nil {
		return
	}
	found, isNew := made.Note.(answer.Answer)
	if !isNew && err == nil {
		found = rememberedAnswer(made.Body)
	}
	if origin == memo.Shared {
		// Whoever asked first has paid for it.
		found.UnknownCitations, found.TokensIn, found.TokensOut, found.Embedding, found.Retrieval, found.Chat = 0, 0, 0, 0, 0, 0
	}
	entry := querylog.OfAnswer(question, found, a.usualThreshold(ctx, question.Corpus), err)
	entry.Streamed = streamed
	a.logEntry(ctx, started, entry, origin, err)
}

// logSearch has the log keep a search and what came of it.
func (a *API) logSearch(ctx context.Context, started time.Time, query search.Query, made memo.Made, origin memo.Origin, err error) {
	if a.QueryLog == nil && a.Metrics == nil {
		return
	}
	page, isNew := made.Note.(search.Page)
	if !isNew && err == nil {
		page = rememberedPage(made.Body)
	}
	a.logEntry(ctx, started, querylog.OfSearch(query, page, a.usualThreshold(ctx, answer.Tickets), err), origin, err)
}

// logEntry completes an entry by what only a request knows.
func (a *API) logEntry(ctx context.Context, started time.Time, entry querylog.Entry, origin memo.Origin, err error) {
	if err != nil && errors.Is(context.Cause(ctx), errClientLeft) {
		entry.Outcome, entry.Error = querylog.Left, ""
	}
	entry.Cached = origin == memo.Hit
	entry.AskedAt, entry.RequestID, entry.Total = started, RequestID(ctx), querylog.Milliseconds(time.Since(started))
	a.tellEntry(entry)
}

// rememberedAnswer is what the log wants to know of an answer that was made before. Only those are
// remembered that are whole, or that say that nothing was found.
func rememberedAnswer(body []byte) answer.Answer {
	var response queryResponse
	if json.Unmarshal(body, &response) != nil {
		return answer.Answer{}
	}
	found := answer.Answer{
		Text: response.Answer, Sources: response.Sources, LowSimilarity: response.LowSimilarity, BestSimilarity: response.BestSimilarity,
		Model: response.Model, Outcome: answer.Answered,
	}
	if len(found.Sources) == 0 {
		found.Outcome = answer.Abstained
	}
	return found
}

// rememberedPage is what the log wants to know of a search that was made before.
func rememberedPage(body []byte) search.Page {
	var response searchResponse
	if json.Unmarshal(body, &response) != nil {
		return search.Page{}
	}
	page := search.Page{HasMore: response.HasMore}
	for _, r := range response.Results {
		page.Hits = append(page.Hits, search.Hit{ProjectID: r.ProjectID, TicketID: r.TicketID, TicketKey: r.TicketKey, Similarity: r.Similarity})
	}
	return page
}
