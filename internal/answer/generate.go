package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/clean"
	"tasklens/internal/fault"
	"tasklens/internal/rpc"
)

const (
	// DefaultTokens bounds what the chat model may write. If a model ignores it, reading stops at
	// clean.MaxBytes.
	DefaultTokens = 800
	// maxModelName is the maximum length in characters of a model's name as the provider reports it.
	maxModelName = 200
	// tokenBytes is the usual length of a token, for providers that do not report how many they used.
	tokenBytes = 4
)

// Outcome is how an answer came about. All outcomes are answers: only a failing provider is an
// error.
type Outcome string

const (
	Answered  Outcome = "answered"
	Abstained Outcome = "abstained" // nothing was relevant, or a name is not clear
	Refused   Outcome = "refused"   // the text is the model's refusal
	Empty     Outcome = "empty"     // the model returned nothing, or a call that cannot be read
	CutOff    Outcome = "cut_off"   // the text reached its maximum length, or the model's thoughts did; the text says so
	Filtered  Outcome = "filtered"  // the provider's content filter refused the prompt, or truncated or withheld the text; the text says so
)

// Texts for when the model returns nothing or not everything.
const (
	nothingRelevant = "I found nothing relevant to this question in the projects and tickets searched."
	noAnswer        = "The model gave no answer to this question."
	withheld        = "The model provider's content filter withheld the answer to this question."
	thoughtful      = "The model thought until it reached its greatest length, and gave no answer. The operator can set ANSWER_TOKENS above %d."
	cutOffNote      = "\n\n(The answer ends here because it reached its greatest length.)"
	filterNote      = "\n\n(The answer ends here because of the model provider's content filter.)"
)

// outcomeOf returns the outcome, and what the service adds to the text.
func (a *Answerer) outcomeOf(said chat.Completion, empty bool) (outcome Outcome, ending string) {
	switch {
	case said.Finish == chat.FinishFilter && empty:
		return Filtered, withheld
	case said.Finish == chat.FinishFilter:
		return Filtered, filterNote
	case empty && said.Finish == chat.FinishLength && (said.Thought || said.TokensOut >= a.options.Tokens):
		return CutOff, fmt.Sprintf(thoughtful, a.options.Tokens)
	case empty:
		return Empty, noAnswer
	case said.Refused:
		return Refused, ""
	case said.Finish == chat.FinishLength:
		return CutOff, cutOffNote
	}
	return Answered, ""
}

// generate has the model answer from the chosen sources or call its tool, and completes the answer.
// A call counts until text was sent. Without sources no text of the model's is shown.
func (a *Answerer) generate(ctx context.Context, db rpc.Caller, q Question, chosen []candidate, answer Answer, listener Listener) (Answer, error) {
	var tell func(text string) error
	if listener != nil {
		tell = listener.Piece
	}
	texts := make([]string, len(chosen))
	for i, c := range chosen {
		for _, attribute := range c.attributes() {
			texts[i] += attribute[1] + "\n"
		}
		texts[i] += c.Text
	}
	text := clean.NewChecker(texts, tell)
	request := chat.Request{Instructions: instructions, Message: prompt(q, chosen), MaxTokens: a.options.Tokens}
	if q.offersFigures() {
		request.Tool = &Tool
	} else if len(chosen) == 0 {
		answer.Text, answer.Outcome = nothingRelevant, Abstained
		return answer, text.Append(nothingRelevant)
	}
	started := time.Now()
	said, err := a.ask(ctx, request, text, listener != nil && len(chosen) > 0)
	answer.Chat = time.Since(started)
	if err != nil {
		return answer, fmt.Errorf("answer: %w", err)
	}
	answer.Model = cmp.Or(clean.Line(said.Model, maxModelName), answer.Model)
	if answer.TokensIn, answer.TokensOut = said.TokensIn, said.TokensOut; answer.TokensIn == 0 {
		answer.TokensIn, answer.TokensOut = (len(instructions)+len(request.Message))/tokenBytes, (min(len(said.Text), clean.MaxBytes)+len(said.Call))/tokenBytes
	}
	switch {
	case said.Call != "" && request.Tool != nil && text.Text() == "":
		answer, err = a.called(ctx, db, q, said.Call, answer)
		if err == nil && listener != nil {
			err = Tell(answer, listener)
		}
		return answer, err
	case len(chosen) == 0:
		answer.Text, answer.Outcome = nothingRelevant, Abstained
		return answer, text.Append(nothingRelevant)
	case listener == nil:
		if err := text.Write(said.Text); errors.Is(err, clean.ErrFull) {
			said.Finish = chat.FinishLength
		}
	}
	if err := text.Close(); err != nil {
		return answer, fmt.Errorf("answer: %w", err)
	}
	outcome, ending := a.outcomeOf(said, text.Text() == "")
	if err := text.Append(ending); err != nil {
		return answer, err
	}
	for i := range answer.Sources {
		answer.Sources[i].Cited = text.Cited(i)
	}
	answer.Text, answer.Outcome, answer.UnknownCitations = text.Text(), outcome, text.Unknown()
	return answer, nil
}

// ask asks the model; as a stream its text goes into text. A full text stops the model, as the
// model's own limit does.
func (a *Answerer) ask(ctx context.Context, request chat.Request, text *clean.Checker, pieces bool) (said chat.Completion, err error) {
	if pieces {
		said, err = a.model.Stream(ctx, request, func(piece string) error {
			err := text.Write(piece)
			if errors.Is(err, clean.ErrFull) {
				return chat.ErrEnough
			}
			return err
		})
	} else {
		said, err = a.model.Complete(ctx, request)
	}
	if err == nil && ctx.Err() != nil {
		err = fault.Wrap(fault.Timeout, "The request ran out of time.", ctx.Err())
	}
	return said, err
}
