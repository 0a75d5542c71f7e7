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

// logAnswer logs a question with its result, or how far it came before err.
func (a *API) logAnswer(ctx context.Context, started time.Time, question answer.Question, made memo.Made, origin memo.Origin, streamed bool, err error) {
	if a.QueryLog == nil && a.Metrics == nil {
		return
	}
	found, isNew := made.Note.(answer.Answer)
	if !isNew && err == nil {
		found = rememberedAnswer(made.Body)
	}
	if origin == memo.Shared {
		// The first caller of a shared computation has paid for it.
		found.UnknownCitations, found.TokensIn, found.TokensOut, found.Embedding, found.Retrieval, found.Chat = 0, 0, 0, 0, 0, 0
	}
	entry := querylog.OfAnswer(question, found, a.usualThreshold(ctx, question.Corpus), err)
	entry.Streamed = streamed
	a.logEntry(ctx, started, entry, origin, err)
}

// logSearch logs a search with its result.
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

// logEntry adds the fields that only the request knows.
func (a *API) logEntry(ctx context.Context, started time.Time, entry querylog.Entry, origin memo.Origin, err error) {
	if err != nil && errors.Is(context.Cause(ctx), errClientLeft) {
		entry.Outcome, entry.Error = querylog.Left, ""
	}
	entry.Cached = origin == memo.Hit
	entry.AskedAt, entry.RequestID, entry.Total = started, RequestID(ctx), querylog.Milliseconds(time.Since(started))
	a.tellEntry(entry)
}

// rememberedAnswer holds what the query log needs of a cached answer. Only complete answers and
// those without sources are cached.
func rememberedAnswer(body []byte) answer.Answer {
	var found answer.Answer
	if json.Unmarshal(body, &found) != nil {
		return answer.Answer{}
	}
	found.Outcome = answer.Answered
	if len(found.Sources) == 0 {
		found.Outcome = answer.Abstained
	}
	return found
}

// rememberedPage holds what the query log needs of a cached search.
func rememberedPage(body []byte) search.Page {
	var response searchResponse
	if json.Unmarshal(body, &response) != nil {
		return search.Page{}
	}
	return response.Page
}
