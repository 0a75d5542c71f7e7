package answer

import (
	"tasklens/internal/chat"
	"tasklens/internal/reply"
)

// Outcome is how an answer came about. All outcomes are answers: only a failing provider is an
// error.
type Outcome string

const (
	Answered  Outcome = "answered"
	Abstained Outcome = "abstained" // nothing was relevant; the chat model was not called
	Refused   Outcome = "refused"   // the text is the model's refusal
	Empty     Outcome = "empty"     // the model returned nothing
	CutOff    Outcome = "cut_off"   // the text reached its maximum length; a note says so
	Filtered  Outcome = "filtered"  // the provider's content filter truncated or withheld the text; a note says so
)

// Texts for when the model returns nothing or not everything.
const (
	nothingRelevant = "I found nothing relevant to this question in the projects and tickets searched."
	noAnswer        = "The model gave no answer to this question."
	withheld        = "The model provider's content filter withheld the answer to this question."
	cutOffNote      = "\n\n(The answer ends here because it reached its greatest length.)"
	filterNote      = "\n\n(The answer ends here because of the model provider's content filter.)"
)

// outcomeOf returns the outcome, the note that ends an incomplete text, and the replacement for an
// empty one.
func outcomeOf(said chat.Completion, empty bool) (outcome Outcome, note, instead string) {
	switch {
	case said.Finish == chat.FinishFilter:
		return Filtered, filterNote, withheld
	case empty:
		return Empty, "", noAnswer
	case said.Refused:
		return Refused, "", ""
	case said.Finish == chat.FinishLength:
		return CutOff, cutOffNote, ""
	}
	return Answered, "", ""
}

// finish closes the text and completes the answer.
func finish(text *reply.Checker, answer Answer, said chat.Completion) (Answer, error) {
	if err := text.Close(); err != nil {
		return answer, err
	}
	empty := text.Text() == ""
	outcome, ending, instead := outcomeOf(said, empty)
	if empty {
		ending = instead
	}
	if err := text.Append(ending); err != nil {
		return answer, err
	}
	for i := range answer.Sources {
		answer.Sources[i].Cited = text.Cited(i)
	}
	answer.Text, answer.Outcome, answer.UnknownCitations = text.Text(), outcome, text.Unknown()
	return answer, nil
}
