package api

import (
	"context"
	"errors"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
	"tasklens/internal/search"
)

// answer answers a question and has the log keep what came of it.
func (a *API) answer(ctx context.Context, db *postgrest.Session, question answer.Question, listener answer.Listener) (answer.Answer, error) {
	started := time.Now()
	found, err := a.Answerer.Answer(ctx, db, question, listener)
	entry := querylog.OfAnswer(question, found, a.MatchThreshold, err)
	entry.Streamed = listener != nil
	a.keep(ctx, entry, started, err)
	return found, err
}

// search searches and has the log keep what came of it.
func (a *API) search(ctx context.Context, db *postgrest.Session, query search.Query) (search.Page, error) {
	started := time.Now()
	page, err := a.Searcher.Hybrid(ctx, db, query)
	a.keep(ctx, querylog.OfSearch(query, page, a.MatchThreshold, err), started, err)
	return page, err
}

// keep completes an entry by what only a request knows.
func (a *API) keep(ctx context.Context, entry querylog.Entry, started time.Time, err error) {
	if err != nil && errors.Is(context.Cause(ctx), errClientLeft) {
		entry.Outcome, entry.Error = querylog.Left, ""
	}
	entry.AskedAt, entry.RequestID, entry.Total = started, RequestID(ctx), querylog.Milliseconds(time.Since(started))
	a.QueryLog.Add(entry)
}
