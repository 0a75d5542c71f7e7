// Package answer answers questions from the tracker's texts and the team's documents: it retrieves
// chunks over a threshold, picks relevant and diverse ones (MMR), sends only these to a chat model,
// and checks the model's citations. The model may instead have tickets counted, grouped and listed:
// the arguments of its call are checked as a search's filters are, and the database computes the
// figures; none, and no name beside them, comes from the model. The package does not know how
// models or the database are called.
package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
	"tasklens/internal/search"
)

// Model answers a prompt, as a whole or as a stream.
type Model interface {
	Complete(ctx context.Context, request chat.Request) (chat.Completion, error)
	Stream(ctx context.Context, request chat.Request, tell func(piece string) error) (chat.Completion, error)
	ChatModel() string
}

// Options are the operator's choices.
type Options struct {
	Tokens int // the most that the chat model may write of an answer, thoughts included; 0: DefaultTokens
}

// Answerer answers questions. It is safe for concurrent use.
type Answerer struct {
	model   Model
	options Options
}

// New returns an Answerer.
func New(model Model, options Options) *Answerer {
	options.Tokens = cmp.Or(options.Tokens, DefaultTokens)
	return &Answerer{model: model, options: options}
}

// Question is a question and the part of the tracker it is about.
type Question struct {
	Text           string         `json:"question" length:"2000" example:"How was the double charge fixed?"`
	Filters        filter.Filters `json:"filters" default:""`
	Corpus         Corpus         `json:"corpus" enum:"tickets,documents,all" default:"tickets" doc:"What to answer from; ~tickets~ includes projects. Filters apply to tickets and are refused with ~documents~."`
	TopK           int            `json:"top_k" min:"1" max:"20" default:"5" doc:"The most sources."`
	MatchThreshold *float64       `json:"match_threshold" min:"0" max:"1" example:"0.7" doc:"The similarity that a text must exceed; by default the operator's, else that measured for the model."`
	Lambda         float64        `json:"mmr_lambda" min:"0" max:"1" default:"0.9" doc:"1 selects sources by relevance alone, 0 by difference from those already selected."`
	Retrieval      string         `json:"retrieval" enum:"vector,hybrid" default:"vector" doc:"Both mean the same: candidates are texts near to the question, and what it names or holds whole."`
	Messages       []Message      `json:"messages" min:"0" max:"10" default:"" doc:"The earlier turns of the conversation, oldest first, which the chat model reads. A turn that stands alone is searched for alone, one without words of its own (~go on~) as the one before, and others by both."`
	TimeZone       string         `json:"time_zone" default:"UTC" maxlen:"60" example:"Europe/Berlin" doc:"The time zone of ~today~ and ~last week~ in a question."`
	Figures        bool           `json:"figures" default:"true" doc:"Whether the chat model may have tickets counted, grouped and listed."`
	Reread         *ReadAs        `json:"read_as" doc:"How to read the question: the ~read_as~ of an answer, changed. Its tickets are counted, and no model is asked."`

	Search string    `json:"-"` // what texts are searched for by: the question with those that it may refer to
	Today  time.Time `json:"-"` // midnight in the time zone
}

// Corpus is the set of texts a question is answered from.
type Corpus string

// The corpora. For Documents and All, chunks are compared by the first 768 numbers of their
// vectors.
const (
	Tickets   Corpus = "tickets" // and projects
	Documents Corpus = "documents"
	All       Corpus = "all" // Filters apply to tickets only
)

// Source is a chunk given to the model: of a ticket, of a project's own text or of a document.
type Source struct {
	_ struct{} `schema:"Source" doc:"A chunk that the chat model received." kinds:"type: ticket TicketSource, project ProjectSource, document DocumentSource"`

	Type       string          `json:"type"`
	DocumentID *string         `json:"document_id" of:"document" format:"uuid"`
	Title      *string         `json:"title" of:"document"`
	TicketID   *int64          `json:"ticket_id" of:"ticket" min:"1" example:"5"`
	Similarity *float64        `json:"similarity" min:"-1" max:"1.0001" example:"0.82" doc:"Null if keyword search found a text that is not embedded yet."`
	ProjectID  *int64          `json:"project_id" of:"ticket,project" min:"1" example:"1"`
	Project    *string         `json:"project_name" of:"ticket,project" example:"Checkout and Payments"`
	TicketKey  *string         `json:"ticket_key" of:"ticket" example:"TX-400"`
	TicketName *string         `json:"ticket_name" of:"ticket" example:"Customer charged twice when a payment is retried"`
	Comment    *search.Comment `json:"comment" may:"ticket"`
	ChunkID    *string         `json:"chunk_id" format:"uuid" example:"0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b11" doc:"Null if keyword search found a text that is not embedded yet."`
	Text       string          `json:"text" example:"An idempotency key now goes with every attempt."`
	Cited      bool            `json:"cited" example:"true" doc:"Whether the answer cites it."`
}

// Answer is the result. Its citations [1], [2] … number the sources from 1.
type Answer struct {
	_ struct{} `schema:"QueryResponse"`

	Text           string   `json:"answer" length:"32900" example:"An idempotency key now goes with every attempt [1]." doc:"Text with citations ~[N]~ of ~sources~, counted from 1."`
	Sources        []Source `json:"sources" max:"20" doc:"What the chat model received; of figures, ~tickets~."`
	LowSimilarity  bool     `json:"low_similarity" doc:"No source is over the threshold."`
	BestSimilarity *float64 `json:"best_similarity" min:"-1" max:"1.0001" example:"0.82" doc:"Of the nearest text within the filters; null if there was nothing to compare."`
	MatchThreshold float64  `json:"match_threshold" min:"0" max:"1" example:"0.31" doc:"The threshold that was applied."`
	Cached         bool     `json:"cached" doc:"Comes from the cache; nothing that it depends on has changed."`
	Model          string   `json:"model" example:"gpt-4o-mini" doc:"The chat model, which has also chosen the figures; it writes none."`

	Question string  `json:"question,omitempty" doc:"What texts were searched for by, if that is more than the question."`
	ReadAs   *ReadAs `json:"read_as,omitempty"`
	Figures
	Candidates []filter.Candidate `json:"candidates,omitempty" min:"1" doc:"Names that the model took for values, or names in ~filters~, which nothing or several have."`

	// For the operator.
	Outcome          Outcome       `json:"-"`
	UnknownCitations int           `json:"-"` // brackets that look like citations and name no source
	TokensIn         int           `json:"-"` // of prompt and answer; estimated if the provider does not report them
	TokensOut        int           `json:"-"`
	Embedding        time.Duration `json:"-"` // duration of each step; 0 if it did not run
	Retrieval        time.Duration `json:"-"`
	Chat             time.Duration `json:"-"`
}

// Listener receives an answer while it is computed. An error of either method ends the work.
type Listener interface {
	// Found comes before the text, as soon as sources are known; others replace them. None is marked
	// as cited yet, and there is no text.
	Found(Answer) error
	// Piece is a piece of the text. All pieces joined are the answer's text.
	Piece(text string) error
}

// Tell tells a listener a complete answer.
func Tell(answer Answer, listener Listener) error {
	found := answer
	found.Sources = slices.Clone(answer.Sources)
	for i := range found.Sources {
		found.Sources[i].Cited = false
	}
	if err := listener.Found(found); err != nil {
		return err
	}
	return listener.Piece(answer.Text)
}

// Answer answers a question from the texts the caller may see. With a listener the model streams.
// An error comes with what was known by then, for the query log.
func (a *Answerer) Answer(ctx context.Context, db rpc.Caller, q Question, embedding search.Embedding, listener Listener) (Answer, error) {
	answer := Answer{Sources: []Source{}, LowSimilarity: true, MatchThreshold: deref(q.MatchThreshold), Model: a.model.ChatModel()}
	if q.Reread != nil {
		answer, err := a.figures(ctx, db, q, *q.Reread, answer)
		if refused, is := errors.AsType[*fault.Error](err); is { // q.Filters have been checked
			for i := range refused.Fields {
				refused.Fields[i].Name = "read_as." + refused.Fields[i].Name
			}
		}
		if err == nil && listener != nil {
			err = Tell(answer, listener)
		}
		return answer, err
	}
	if q.Search != q.Text {
		answer.Question = q.Search
	}
	started := time.Now()
	vector, err := search.Await(ctx, embedding)
	if err != nil {
		return answer, fmt.Errorf("embed question: %w", err)
	}
	answer.Embedding = time.Since(started)

	started = time.Now()
	found, err := a.retrieve(ctx, db, q, embedding.Model(), vector)
	if err != nil {
		return answer, fmt.Errorf("retrieve chunks: %w", err)
	}
	answer.Retrieval = time.Since(started)
	answer.BestSimilarity = best(found)
	chosen := fit(choose(found, q))
	for _, c := range chosen {
		answer.Sources = append(answer.Sources, c.Source)
		answer.LowSimilarity = answer.LowSimilarity && !c.OverThreshold
	}
	answer = answer.tidy()
	if listener != nil {
		if err := listener.Found(answer); err != nil {
			return answer, fmt.Errorf("send sources: %w", err)
		}
	}
	return a.generate(ctx, db, q, chosen, answer, listener)
}
