package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

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

// serviceIdentity is the identity of requests without a token.
const serviceIdentity = "service"

// asked is a request that may be answered from the cache.
type asked struct {
	memo.Request
	text    string           // whose embedding the work begins with
	serving *reembed.Serving // which model embeds it
}

// work computes a response, given the embedding of the query.
type work func(ctx context.Context, embedding *memo.Pending, tell func(memo.Event) error) (memo.Made, error)

// newAsked takes as subject all parameters of the request, with defaults filled in.
func (a *API) newAsked(c *fiber.Ctx, kind, text string, project *int64, subject any) asked {
	request := memo.Request{Kind: kind, Identity: serviceIdentity, Project: project, Subject: subject}
	if caller := knownOf(c); caller != nil {
		// The token is verified, but only the database knows what they may see now.
		request.Identity, request.Bearer = "caller "+caller.Digest, caller.bearer
	} else if token := c.Get(fiber.HeaderAuthorization); token != "" {
		// The token is not verified yet, only well-formed: PostgREST verifies it.
		request.Identity = "token " + digest(token)
	}
	return asked{request, text, a.Serving}
}

// respond returns the response to a request, cached or computed by work.
func (a *API) respond(ctx context.Context, db memo.Database, request asked, tell func(memo.Event) error, work work) (memo.Made, memo.Origin, error) {
	model, err := request.serving.Last(ctx)
	if err != nil {
		// Without a model there is no cache key. work continues without the embedding, or fails
		// with err.
		made, err := work(ctx, memo.Failed(a.EmbeddingModel, err), tell)
		return made, a.uncached(), err
	}
	// Part of the key, because the model may be read later than the version.
	request.Subject = []any{model, request.Subject}
	// Started before the version is read, to save time. On a cache hit it is usually cached too,
	// and is cancelled otherwise.
	embedding := a.begin(ctx, model, request.text)
	defer embedding.GiveUp()
	return a.Memo.Do(ctx, db, request.Request, tell, func(ctx context.Context, tell func(memo.Event) error) (memo.Made, error) {
		// A cache hit does not need the serving model; a computation does.
		present, _ := request.serving.Use(ctx) // no error: one was known
		if present == model {
			return work(ctx, embedding, tell)
		}
		embedding := a.begin(ctx, present, request.text)
		defer embedding.GiveUp()
		made, err := work(ctx, embedding, tell)
		made.Keep = nil // it would be cached under the other model's name
		return made, err
	})
}

var errNoText = errors.New("there is no text to embed")

// begin starts embedding the query. A list has no text and needs no embedding.
func (a *API) begin(ctx context.Context, model, text string) *memo.Pending {
	if text == "" {
		return memo.Failed(model, errNoText)
	}
	return a.Embeddings.Begin(ctx, model, text)
}

// uncached is the origin of responses that bypass the cache.
func (a *API) uncached() memo.Origin {
	if a.Memo == nil {
		return memo.Off
	}
	return memo.Passed
}

// sendMade sends a result.
func sendMade(c *fiber.Ctx, made memo.Made, origin memo.Origin) error {
	c.Set(headerCacheStatus, cacheStatuses[origin])
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(made.Body)
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
