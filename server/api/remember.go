package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/memo"
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

// asked is a request of a caller's, to be answered from memory where that is true. Its body is the other part of the key:
// everything that was asked for, defaults filled in.
func asked(c *fiber.Ctx, kind string, project *int64, subject any) memo.Request {
	request := memo.Request{Kind: kind, Identity: serviceIdentity, Project: project, Subject: subject}
	if caller := knownOf(c); caller != nil {
		// Verified, but only the database knows what they may see at this moment.
		request.Identity, request.Bearer, request.Watched = "caller "+caller.Digest, caller.bearer, true
	} else if token := c.Get(fiber.HeaderAuthorization); token != "" {
		// Nobody has looked at the token yet but for its form: PostgREST will.
		request.Identity, request.Watched = "token "+digest(token), true
	}
	return request
}

// remembered gives the result of a request, remembered or made by work, of which the first step is to embed text. Where
// the serving model is not known yet, nothing is looked up and work is not called: the error is reembed.ErrUnknown.
func (a *API) remembered(ctx context.Context, db memo.Database, request memo.Request, text string, tell func(memo.Event) error, work memo.Work) (memo.Made, memo.Origin, error) {
	model := ""
	if request.Project == nil || *request.Project != documentsVersion { // these are of the configured model alone
		var err error
		if ctx, model, err = a.Serving.Last(ctx); err != nil {
			return memo.Made{}, a.unremembered(), err
		}
		work = a.byServing(model, text, work)
	}
	// Not left to the version: the model may be known later than that is read.
	request.Subject = []any{model, request.Subject}
	// At once, while the database is asked whether that is needed. Where it is not, the embedding is remembered as a rule,
	// and otherwise given up.
	ctx, giveUp := a.beginEmbedding(ctx, text)
	defer giveUp()
	return a.Memo.Do(ctx, db, request, tell, work)
}

// unremembered is the origin of what is made past the cache.
func (a *API) unremembered() memo.Origin {
	if a.Memo == nil {
		return memo.Off
	}
	return memo.Passed
}

// beginEmbedding has text embedded by the context's model, for whoever needs that under the context that it gives.
func (a *API) beginEmbedding(ctx context.Context, text string) (_ context.Context, giveUp func()) {
	if a.Embeddings == nil {
		return ctx, func() {}
	}
	return a.Embeddings.Begin(ctx, text)
}

// byServing is work by the model that serves now. What is remembered needs nobody to ask which that is; what is made by
// another model than the one it would be kept under is not kept.
func (a *API) byServing(model, text string, work memo.Work) memo.Work {
	return func(ctx context.Context, tell func(memo.Event) error) (memo.Made, error) {
		ctx, present, err := a.Serving.Use(ctx)
		if err != nil {
			return memo.Made{}, err
		}
		if present == model {
			return work(ctx, tell)
		}
		ctx, giveUp := a.beginEmbedding(ctx, text)
		defer giveUp()
		made, err := work(ctx, tell)
		made.Keep = nil
		return made, err
	}
}

// sendMade answers with a result.
func sendMade(c *fiber.Ctx, made memo.Made, origin memo.Origin) error {
	c.Set(headerCacheStatus, cacheStatuses[origin])
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(made.Body)
}

// encodeResponse is a response as it goes out now, and, where it may be kept, as it will the next time. A response holds
// nothing of its request, such as its id. note is for the query log.
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
