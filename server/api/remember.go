package api

import (
	"context"
	"encoding/json"
	"fmt"

	"tasklens/internal/memo"
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

// cacheable is a request whose response may come from the cache.
type cacheable struct {
	memo.Request
	text    string           // to embed
	serving *reembed.Serving // which model embeds it
}

// newCacheable takes as subject all parameters of the request, with defaults filled in.
func (a *API) newCacheable(who *caller, kind, text string, project *int64, subject ...any) cacheable {
	return cacheable{memo.Request{Kind: kind, Identity: who.key(), Bearer: who.token, Project: project, Subject: subject}, text, a.Serving}
}

// work computes a response, given the query to embed.
type work func(ctx context.Context, embedding memo.Query) (memo.Made, error)

// respond returns the response to a request, cached or computed by work.
func (a *API) respond(ctx context.Context, who *caller, request cacheable, work work) (memo.Made, memo.Origin, error) {
	model, err := request.serving.Last(ctx)
	if err != nil {
		// Without a model there is no cache key. work continues without the embedding, or fails
		// with err.
		made, err := work(ctx, memo.Failed(a.EmbeddingModel, err))
		return made, a.uncached(), err
	}
	// Part of the key, because the model may be read later than the version.
	request.Subject = []any{model, request.Subject}
	return a.Memo.Do(ctx, who.db, request.Request, func(ctx context.Context) (memo.Made, error) {
		// A cache hit does not need the serving model; a computation does.
		present, _ := request.serving.Use(ctx) // no error: one was known
		made, err := work(ctx, a.Embeddings.Query(present, request.text))
		if present != model {
			made.Keep = nil // it would be cached under the other model's name
		}
		return made, err
	})
}

// uncached is the origin of responses that bypass the cache.
func (a *API) uncached() memo.Origin {
	if a.Memo == nil {
		return memo.Off
	}
	return memo.Passed
}

// encodeResponse encodes a response as sent now and, if cacheable, as sent from the cache. A
// response contains nothing specific to its request, such as its id. note is for the query log.
func encodeResponse(response any, kept any, keep bool, note any) (made memo.Made, err error) {
	made.Note = note
	if made.Body, err = json.Marshal(response); err == nil && keep {
		made.Keep, err = json.Marshal(kept)
	}
	if err != nil {
		return memo.Made{}, fmt.Errorf("encode the response: %w", err)
	}
	return made, nil
}
