package api

import (
	"bytes"
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

// computed is what was found, and the response as it is sent now and from the cache. kept is nil if
// it is not to be cached. A response contains nothing specific to its request, such as its id.
// dated: it holds for the request's day alone.
type computed struct {
	found, response, kept any
	dated                 bool
}

// work computes a response, given the query to embed. Beside an error it returns what it has found.
type work func(ctx context.Context, embedding memo.Query) (computed, error)

// respond returns the response to a request, cached or computed by work, and logs it.
func (a *API) respond(ctx context.Context, who *caller, request cacheable, work work) (reply, error) {
	started := time.Now()
	made, origin, err := a.recall(ctx, who, request, func(ctx context.Context, embedding memo.Query) (memo.Made, error) {
		done, err := work(ctx, embedding)
		made := memo.Made{Note: request.entry(done.found, err), Dated: done.dated}
		if err != nil {
			return made, err
		}
		return made, encode(&made, done)
	})
	entry, isNew := made.Note.(querylog.Entry)
	body := made.Body
	if origin == memo.Hit {
		head, rest, _ := bytes.Cut(body, []byte("\n"))
		if err := json.Unmarshal(head, &entry); err != nil {
			return reply{}, fmt.Errorf("read what is logged of the cached response: %w", err)
		}
		body = rest
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

// encode encodes a response. What is cached begins with a line for the query log, so that it need
// not be decoded to be logged.
func encode(made *memo.Made, done computed) (err error) {
	if made.Body, err = json.Marshal(done.response); err != nil || done.kept == nil {
		return err
	}
	head, err := json.Marshal(withoutCost(made.Note.(querylog.Entry)))
	if err != nil {
		return err
	}
	kept, err := json.Marshal(done.kept)
	made.Keep = append(append(head, '\n'), kept...)
	return err
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
