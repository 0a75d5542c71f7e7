package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/postgrest"
)

// sourcesEvent is what is known before the text.
type sourcesEvent struct {
	Sources        []answer.Source `json:"sources"`
	LowSimilarity  bool            `json:"low_similarity"`
	BestSimilarity *float64        `json:"best_similarity"`
}

type deltaEvent struct {
	Text string `json:"text"`
}

// streamAnswer answers a question as events: sources, delta (many), done.
func (a *API) streamAnswer(c *fiber.Ctx, db *postgrest.Session, question answer.Question) error {
	return a.sendEvents(c, func(ctx context.Context, send func(name string, data any) error) error {
		found, err := a.answer(ctx, db, question, answerEvents{send})
		if err != nil {
			return err
		}
		return send("done", newQueryResponse(found))
	})
}

// answerEvents tells an answer as events while it is made.
type answerEvents struct {
	send func(name string, data any) error
}

func (e answerEvents) Found(found answer.Answer) error {
	// The sources are marked as cited while the event is on its way.
	sources := append([]answer.Source{}, found.Sources...)
	return e.send("sources", sourcesEvent{Sources: sources, LowSimilarity: found.LowSimilarity, BestSimilarity: found.BestSimilarity})
}

func (e answerEvents) Piece(text string) error { return e.send("delta", deltaEvent{text}) }
