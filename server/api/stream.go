package api

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/postgrest"
)

// sourcesEvent is sent before the text.
type sourcesEvent struct {
	Sources        []answer.Source `json:"sources"`
	LowSimilarity  bool            `json:"low_similarity"`
	BestSimilarity *float64        `json:"best_similarity"`
}

type deltaEvent struct {
	Text string `json:"text"`
}

// streamAnswer answers a question as events: sources, delta (many), done. A cached answer is sent
// as the same events.
func (a *API) streamAnswer(c *fiber.Ctx, db *postgrest.Session, whole asked, question answer.Question, started time.Time) error {
	origin := a.uncached() // what is sent before the end may still fail, or not be kept
	begin := func(c *fiber.Ctx) { c.Set(headerCacheStatus, cacheStatuses[origin]) }
	return a.sendEvents(c, begin, func(ctx context.Context, send func(name string, data any) error) error {
		told := false
		events := answerEvents(func(name string, data any) error {
			told = true
			return send(name, data)
		})
		whole.Alone = true
		made, from, err := a.respond(ctx, db, whole, a.answering(db, question, events))
		a.logAnswer(ctx, started, question, made, from, true, err)
		if err != nil {
			return err
		}
		if !told {
			origin = from
			if err := replay(made.Body, events); err != nil {
				return err
			}
		}
		return send("done", json.RawMessage(made.Body))
	})
}

// replay sends a complete response as the events of a stream.
func replay(body []byte, events answerEvents) error {
	var response queryResponse
	if err := json.Unmarshal(body, &response); err != nil {
		return fmt.Errorf("read the cached answer: %w", err)
	}
	found := answer.Answer{Sources: response.Sources, LowSimilarity: response.LowSimilarity, BestSimilarity: response.BestSimilarity}
	for i := range found.Sources {
		found.Sources[i].Cited = false
	}
	if err := events.Found(found); err != nil {
		return err
	}
	return events.Piece(response.Answer)
}

// answerEvents sends an answer as events while it is generated.
type answerEvents func(name string, data any) error

func (send answerEvents) Found(found answer.Answer) error {
	// A copy: the sources are marked as cited while the event may still be encoded.
	sources := append([]answer.Source{}, found.Sources...)
	return send("sources", sourcesEvent{Sources: sources, LowSimilarity: found.LowSimilarity, BestSimilarity: found.BestSimilarity})
}

func (send answerEvents) Piece(text string) error {
	return send("delta", deltaEvent{text})
}
