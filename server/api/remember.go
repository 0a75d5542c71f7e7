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

// cacheStatuses say in the words of RFC 9211 where a response comes from.
var cacheStatuses = map[memo.Origin]string{
	memo.Off:    "tasklens; fwd=bypass",
	memo.Hit:    "tasklens; hit",
	memo.Stored: "tasklens; fwd=miss; stored",
	memo.Shared: "tasklens; fwd=miss; collapsed",
	memo.Passed: "tasklens; fwd=miss",
}

// serviceIdentity is that of every request without a token.
const serviceIdentity = "service"

// asked is a request of a caller's that may be answered from the cache.
type asked struct {
	memo.Request
	text    string           // whose embedding the work begins with
	serving *reembed.Serving // which model embeds it
}

// work makes a response with the embedding of what was asked.
type work func(ctx context.Context, embedding *memo.Pending, tell func(memo.Event) error) (memo.Made, error)

// newAsked has in subject everything that was asked for, defaults filled in.
func (a *API) newAsked(c *fiber.Ctx, kind, text string, project *int64, subject any) asked {
	request := memo.Request{Kind: kind, Identity: serviceIdentity, Project: project, Subject: subject}
	if caller := knownOf(c); caller != nil {
		// Verified, but only the database knows what they may see at this moment.
		request.Identity, request.Bearer, request.Watched = "caller "+caller.Digest, caller.bearer, true
	} else if token := c.Get(fiber.HeaderAuthorization); token != "" {
		// Nobody has looked at the token yet but for its form: PostgREST will.
		request.Identity, request.Watched = "token "+digest(token), true
	}
	return asked{request, text, a.Serving}
}

// respond gives the response to a request, cached or made by work.
func (a *API) respond(ctx context.Context, db memo.Database, request asked, tell func(memo.Event) error, work work) (memo.Made, memo.Origin, error) {
	model, err := request.serving.Last(ctx)
	if err != nil {
		// Nothing is looked up without a model. Work may do without the embedding, or fails by err.
		made, err := work(ctx, memo.Failed(a.EmbeddingModel, err), tell)
		return made, a.uncached(), err
	}
	// Not left to the version: the model may be known later than that is read.
	request.Subject = []any{model, request.Subject}
	// At once, while the database is asked for the version. On a hit it was cached as a rule, and
	// otherwise it is given up.
	embedding := a.begin(ctx, model, request.text)
	defer embedding.GiveUp()
	return a.Memo.Do(ctx, db, request.Request, tell, func(ctx context.Context, tell func(memo.Event) error) (memo.Made, error) {
		// A hit asks nobody which model serves now; what is made is by that one.
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

// begin begins to embed what was asked. A list is asked for without a text, and needs no embedding.
func (a *API) begin(ctx context.Context, model, text string) *memo.Pending {
	if text == "" {
		return memo.Failed(model, errNoText)
	}
	return a.Embeddings.Begin(ctx, model, text)
}

// uncached is the origin of what is made past the cache.
func (a *API) uncached() memo.Origin {
	if a.Memo == nil {
		return memo.Off
	}
	return memo.Passed
}

// sendMade answers with a result.
func sendMade(c *fiber.Ctx, made memo.Made, origin memo.Origin) error {
	c.Set(headerCacheStatus, cacheStatuses[origin])
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(made.Body)
}

// encodeResponse is a response as it goes out now, and, where it may be kept, as it will the next
// time. A response holds nothing of its request, such as its id. note is for the query log.
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
