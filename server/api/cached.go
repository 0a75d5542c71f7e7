package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/memo"
	"tasklens/internal/querylog"
)

const headerCacheStatus = "Cache-Status"

// cacheStatuses are the values of the Cache-Status header (RFC 9211).
var cacheStatuses = map[memo.Origin]string{
	memo.Off:    "tasklens; fwd=bypass",
	memo.Hit:    "tasklens; hit",
	memo.Stored: "tasklens; fwd=miss; stored",
	memo.Shared: "tasklens; fwd=miss; collapsed",
	memo.Passed: "tasklens; fwd=miss",
}

// cacheable is a question or a search, whose response may come from the cache and is logged.
type cacheable struct {
	memo.Request
	asked    time.Time
	err      error                      // why nothing can be found for it
	entry    func(error) querylog.Entry // of the query log, where nothing was found
	unlogged bool                       // nobody typed it
}

// newCacheable takes as subject all parameters of the request, with defaults filled in.
func newCacheable(who *caller, kind string, now present, subject ...any) cacheable {
	return cacheable{Request: memo.Request{Kind: kind, Identity: who.key(), Bearer: who.token, Version: now.Version, Subject: subject}, asked: now.asked}
}

// cachedResponse is the form of a response in the cache.
type cachedResponse struct{ Entry, Response any }

// made encodes a response, which contains nothing specific to its request, such as its id. kept is
// the same as sent from the cache; nil: not to be cached.
func made(entry querylog.Entry, response, kept any, err error) (memo.Made, error) {
	made := memo.Made{Note: entry}
	if err == nil {
		made.Body, err = json.Marshal(response)
	}
	if err == nil && kept != nil {
		made.Keep, err = json.Marshal(cachedResponse{withoutCost(entry), kept})
	}
	return made, err
}

// respond returns the response to a request, from the cache or made by work, and logs it.
func (a *API) respond(ctx context.Context, request cacheable, work func(context.Context) (memo.Made, error)) (memo.Made, error) {
	made, err := memo.Made{Origin: a.uncached()}, request.err
	if err == nil {
		made, err = a.Memo.Do(ctx, request.Request, work)
	}
	entry, isNew := made.Note.(querylog.Entry)
	if made.Origin == memo.Hit {
		var kept json.RawMessage
		if err := json.Unmarshal(made.Body, &cachedResponse{&entry, &kept}); err != nil {
			return memo.Made{}, fmt.Errorf("read a cached response: %w", err)
		}
		made.Body = kept
	} else if !isNew {
		entry = request.entry(err)
	}
	if made.Origin == memo.Shared {
		entry = withoutCost(entry) // which the first caller of a shared computation has paid
	}
	if err != nil && errors.Is(context.Cause(ctx), errClientLeft) {
		entry.Outcome, entry.Error = querylog.Left, ""
	}
	entry.Cached, entry.Streamed = made.Origin == memo.Hit, request.Alone
	entry.AskedAt, entry.RequestID, entry.Total = request.asked, RequestID(ctx), querylog.Milliseconds(time.Since(request.asked))
	if !request.unlogged {
		a.Observer.Query(entry.Kind, entry.Outcome, entry.LowSimilarity, entry.Unknown)
		a.QueryLog.Add(entry)
	}
	return made, err
}

func withoutCost(entry querylog.Entry) querylog.Entry {
	entry.Unknown, entry.TokensIn, entry.TokensOut, entry.Embedding, entry.Retrieval, entry.Chat = 0, 0, 0, 0, 0, 0
	return entry
}

// uncached is the origin of responses that bypass the cache.
func (a *API) uncached() memo.Origin {
	if a.Memo == nil {
		return memo.Off
	}
	return memo.Passed
}
