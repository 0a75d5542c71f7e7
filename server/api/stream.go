package api

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
)

// sourcesEvent is sent before the text.
type sourcesEvent struct {
	_ struct{} `doc:"The data of an event ~sources~, which replaces those of an earlier one. No source is marked as cited yet."`

	Sources        []answer.Source `json:"sources" max:"20"`
	LowSimilarity  bool            `json:"low_similarity"`
	BestSimilarity *float64        `json:"best_similarity" min:"-1" max:"1.0001"`
}

type deltaEvent struct {
	_ struct{} `doc:"The data of an event ~delta~, a piece of the answer."`

	Text string `json:"text"`
}

// answerKinds are the events of an answer.
var answerKinds = []eventKind{
	{"sources", reflect.TypeFor[sourcesEvent]()}, {"delta", reflect.TypeFor[deltaEvent]()},
	{"done", reflect.TypeFor[answer.Answer]()}, {"error", reflect.TypeFor[problemBody]()},
}

// streamAnswer answers a question as events: sources (twice if figures replace them), delta (many),
// done. A cached answer is sent as the same events.
func (a *API) streamAnswer(c *fiber.Ctx, who *caller, request *queryRequest) error {
	var isHit atomic.Bool
	begin := func(c *fiber.Ctx) {
		origin := a.uncached() // what is sent before the end may still fail, or not be kept
		if isHit.Load() {
			origin = memo.Hit
		}
		c.Set(headerCacheStatus, cacheStatuses[origin])
	}
	return a.sendEvents(c, begin, func(ctx context.Context, send func(name string, data any) error) error {
		events := answerEvents(send)
		made, err := a.answer(ctx, who, request, events)
		if err != nil {
			return err
		}
		if made.Origin == memo.Hit {
			isHit.Store(true)
			if err := replay(made.Body, events); err != nil {
				return err
			}
		}
		return send("done", json.RawMessage(made.Body))
	})
}

// replay sends a complete response as the events of a stream.
func replay(body []byte, events answerEvents) error {
	var found answer.Answer
	if err := json.Unmarshal(body, &found); err != nil {
		return fmt.Errorf("read the cached answer: %w", err)
	}
	return answer.Tell(found, events)
}

// answerEvents sends an answer as events while it is generated.
type answerEvents func(name string, data any) error

func (send answerEvents) Found(found answer.Answer) error {
	return send("sources", sourcesEvent{Sources: found.Sources, LowSimilarity: found.LowSimilarity, BestSimilarity: found.BestSimilarity})
}

func (send answerEvents) Piece(text string) error {
	return send("delta", deltaEvent{Text: text})
}
