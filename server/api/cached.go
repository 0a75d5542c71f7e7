package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/memo"
	"tasklens/internal/querylog"
	"tasklens/internal/reembed"
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

// reply is an encoded response and where it comes from.
type reply struct {
	body   []byte
	origin memo.Origin
}

// cacheable is a question or a search, whose response may come from the cache and is logged.
type cacheable struct {
	memo.Request
	text    string           // to embed
	serving *reembed.Serving // which model embeds it
	// entry is what the query log has of what was found, which is nil if nothing was, or before err.
	entry    func(found any, err error) querylog.Entry
	unlogged bool // nobody typed it
}

// newCacheable takes as subject all parameters of the request, with defaults filled in.
func (a *API) newCacheable(who *caller, kind, text string, subject ...any) cacheable {
	return cacheable{Request: memo.Request{Kind: kind, Identity: who.key(), Bearer: who.token, Subject: subject}, text: text, serving: a.Serving}
}

// computed is the outcome of a computation. A response contains nothing specific to its request,
// such as its id.
type computed struct {
	found    any  // for the query log
	response any  // sent to those who wait for it
	kept     any  // the same as sent from the cache; nil: not to be cached
	dated    bool // it holds for the request's day alone
}

// work computes a response, given the query to embed. Beside an error it returns what it has found.
type work func(ctx context.Context, embedding memo.Query) (computed, error)

// respond returns the response to a request, cached or computed by work, and logs it.
func (a *API) respond(ctx context.Context, who *caller, request cacheable, work work) (reply, error) {
	started := time.Now()
	compute := func(ctx context.Context, embedding memo.Query) (memo.Made, error) {
		done, err := work(ctx, embedding)
		entry := request.entry(done.found, err)
		made := memo.Made{Note: entry, Dated: done.dated}
		if err == nil {
			made.Body, err = json.Marshal(done.response)
		}
		if err == nil && done.kept != nil {
			made.Keep, err = json.Marshal(cachedResponse{withoutCost(entry), done.kept})
		}
		return made, err
	}
	made, origin, err := a.recall(ctx, who, request, compute)
	entry, isNew := made.Note.(querylog.Entry)
	body := made.Body
	if origin == memo.Hit {
		var kept json.RawMessage
		if err := json.Unmarshal(body, &cachedResponse{&entry, &kept}); err != nil {
			return reply{}, fmt.Errorf("read a cached response: %w", err)
		}
		body = kept
	} else if !isNew {
		entry = request.entry(nil, err)
	}
	if origin == memo.Shared {
		entry = withoutCost(entry) // which the first caller of a shared computation has paid
	}
	if err != nil && errors.Is(context.Cause(ctx), errClientLeft) {
		entry.Outcome, entry.Error = querylog.Left, ""
	}
	entry.Cached, entry.Streamed = origin == memo.Hit, request.Alone
	entry.AskedAt, entry.RequestID, entry.Total = started, RequestID(ctx), querylog.Milliseconds(time.Since(started))
	if !request.unlogged {
		a.Observer.Query(entry.Kind, entry.Outcome, entry.LowSimilarity, entry.Unknown)
		a.QueryLog.Add(entry)
	}
	return reply{body, origin}, err
}

// cachedResponse is the form of a response in the cache.
type cachedResponse struct{ Entry, Response any }

// recall returns a response from the cache, or from compute.
func (a *API) recall(ctx context.Context, who *caller, request cacheable, compute func(context.Context, memo.Query) (memo.Made, error)) (memo.Made, memo.Origin, error) {
	model, err := request.serving.Last(ctx)
	if err != nil {
		// Without a model there is no cache key. The work continues without the embedding, or fails
		// with err.
		made, err := compute(ctx, memo.Failed(a.EmbeddingModel, err))
		return made, a.uncached(), err
	}
	// Part of the key, because the model may be read later than the version.
	request.Subject = []any{model, request.Subject}
	return a.Memo.Do(ctx, who.db, request.Request, func(ctx context.Context) (memo.Made, error) {
		// A cache hit does not need the serving model; a computation does.
		present, _ := request.serving.Use(ctx) // no error but that of a database that is down: one was known
		made, err := compute(ctx, a.embedding(ctx, present, request.text))
		if present != model {
			made.Keep = nil // it would be cached under the other model's name
		}
		return made, err
	})
}

// embedding is a text to embed with a model. While the database is down, that would be paid for in
// vain: it fails instead.
func (a *API) embedding(ctx context.Context, model, text string) memo.Query {
	if err := a.Serving.Down(ctx); err != nil {
		return memo.Failed(model, err)
	}
	return a.Embeddings.Query(model, text)
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
