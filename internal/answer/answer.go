// Package answer answers questions from the tracker's own texts and the team's documents: it
// retrieves chunks over a threshold, picks relevant and different ones (MMR), asks a chat model
// that is given nothing else, and checks what the model cites. It knows neither how models are
// asked nor how the database is reached.
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
	"tasklens/internal/filter"
	"tasklens/internal/reply"
	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// maxAnswerTokens bounds what the chat model may write. Of one that does not keep to it
// reply.MaxBytes are read.
const maxAnswerTokens = 800

// maxModelName is the greatest length of a model's name in characters, as the provider tells it.
const maxModelName = 200

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model answers from a prompt, in one piece or piece by piece.
type Model interface {
	Complete(ctx context.Context, instructions, message string, maxTokens int) (chat.Completion, error)
	Stream(ctx context.Context, instructions, message string, maxTokens int, tell func(piece string) error) (chat.Completion, error)
	ChatModel() string
}

// Tokenizer measures text: the byte length of each token, in order.
type Tokenizer interface {
	Lengths(text string) []int
}

// DefaultContextTokens has room for the most chunks that can be asked for at their usual length.
const DefaultContextTokens = 8000

// Options are what an operator chooses.
type Options struct {
	ContextTokens int     // most tokens of all sources together in a prompt; 0 is DefaultContextTokens
	VectorWeight  float64 // of the two searches, where candidates come from hybrid search
	KeywordWeight float64
	Fusion        string // search.RRF, also where it is empty, or search.Convex
}

// Answerer answers questions. It is safe for concurrent use.
type Answerer struct {
	model     Model
	tokenizer Tokenizer
	options   Options
}

// New makes an answerer.
func New(model Model, tokenizer Tokenizer, options Options) *Answerer {
	if options.ContextTokens <= 0 {
		options.ContextTokens = DefaultContextTokens
	}
	return &Answerer{model: model, tokenizer: tokenizer, options: options}
}

// Question is what is asked, and of which part of the tracker.
type Question struct {
	Text           string
	Corpus         Corpus // "" is Tickets
	ProjectID      *int64
	StatusFilter   *string
	Filters        filter.Filters
	TopK           int     // chunks that the answer may draw on
	MatchThreshold float64 // cosine similarity that a chunk must exceed
	Lambda         float64 // MMR: 1 is relevance alone, 0 diversity alone
	Hybrid         bool    // candidates come from hybrid search, so that exact codes are found
}

// Corpus is what a question is asked of.
type Corpus string

// The corpora. Of Documents and All, chunks are compared by the first 768 numbers of their vectors.
const (
	Tickets   Corpus = "tickets" // and projects
	Documents Corpus = "documents"
	All       Corpus = "all" // ProjectID, StatusFilter and Filters narrow the tickets alone
)

// Source is a chunk that the answer could draw on: of a ticket, of a project's own text or of a
// document.
type Source struct {
	Type       string          `json:"type"` // ticket, project or document
	DocumentID *string         `json:"document_id,omitempty"`
	Title      *string         `json:"title,omitempty"`      // of the document
	TicketID   *int64          `json:"ticket_id"`            // nil for a project's own text and a document
	Similarity *float64        `json:"similarity"`           // cosine; nil where a text found by its words has no vector
	ProjectID  *int64          `json:"project_id,omitempty"` // nil for a document
	TicketKey  *string         `json:"ticket_key"`
	TicketName *string         `json:"ticket_name"`
	Comment    *search.Comment `json:"comment,omitempty"` // that the text is of; nil for the ticket's own text and notes
	ChunkID    *string         `json:"chunk_id"`          // nil where the text is not embedded yet
	Text       string          `json:"text"`
	Cited      bool            `json:"cited"` // the answer cites it
}

// Answer is what was found. Its citations [1], [2] … count the sources from 1.
type Answer struct {
	Text           string
	Sources        []Source
	LowSimilarity  bool     // no text was over the threshold
	BestSimilarity *float64 // within the filters; nil where there was nothing to compare
	Model          string

	// For the operator.
	Outcome          Outcome
	UnknownCitations int // that were taken out of the text
	TokensIn         int // of the prompt and of the answer; counted here where the provider does not
	TokensOut        int
	Embedding        time.Duration // the time that each step took, with the words that are ranked meanwhile; 0 for one that was not needed
	Retrieval        time.Duration
	Chat             time.Duration
}

// Listener is told of an answer while it is made. An error of either method ends the work.
type Listener interface {
	// Found comes first, once: the sources are chosen, none is marked as cited yet, and there is no
	// text.
	Found(Answer) error
	// Piece is a piece of the text. All of them put together are the answer's text.
	Piece(text string) error
}

// Answer answers a question, with its embedding, from the texts that the caller may see. With a
// listener the model is asked to answer piece by piece; nil asks for the whole. With an error comes
// what was known by then, for the operator alone.
func (a *Answerer) Answer(ctx context.Context, db Database, q Question, embedding search.Embedding, listener Listener) (Answer, error) {
	answer := Answer{Sources: []Source{}, Model: a.model.ChatModel()}
	started := time.Now()
	vector, ranking, err := await(ctx, db, q, embedding)
	if err != nil {
		return answer, fmt.Errorf("embed question: %w", err)
	}
	answer.Embedding = time.Since(started)

	started = time.Now()
	found, err := a.retrieve(ctx, db, q, embedding.Model(), vector, ranking)
	if err != nil {
		return answer, fmt.Errorf("retrieve chunks: %w", err)
	}
	answer.Retrieval = time.Since(started)
	answer.BestSimilarity = best(found)
	chosen := choose(found, q)
	mark := fence(q.Text, chosen) // before the budget, which it takes its part of
	chosen = a.fit(mark, chosen)
	answer.LowSimilarity = true
	for _, c := range chosen {
		answer.Sources = append(answer.Sources, c.Source)
		answer.LowSimilarity = answer.LowSimilarity && !c.OverThreshold
	}
	if listener != nil {
		if err := listener.Found(answer); err != nil {
			return answer, fmt.Errorf("tell sources: %w", err)
		}
	}
	text := newText(answer.Sources, listener)
	if len(chosen) == 0 {
		answer.Text, answer.Outcome = nothingRelevant, Abstained
		return answer, text.Append(nothingRelevant)
	}

	started = time.Now()
	message := prompt(mark, q.Text, chosen)
	said, err := a.ask(ctx, message, text, listener != nil)
	answer.Chat = time.Since(started)
	if err != nil {
		return answer, fmt.Errorf("answer: %w", err)
	}
	answer.Model = cmp.Or(clean.Line(said.Model, maxModelName), answer.Model)
	if answer.TokensIn, answer.TokensOut = said.TokensIn, said.TokensOut; answer.TokensIn == 0 {
		answer.TokensIn = len(a.tokenizer.Lengths(instructions)) + len(a.tokenizer.Lengths(message))
		answer.TokensOut = len(a.tokenizer.Lengths(said.Text))
	}
	return finish(text, answer, said)
}

// await waits for the question's embedding; where its words count too, these are ranked meanwhile.
func await(ctx context.Context, db Database, q Question, embedding search.Embedding) (vector vector.Vector, ranking *search.Ranking, err error) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ask := func(ctx context.Context) error {
		var err error
		if vector, err = search.Await(ctx, embedding); err != nil {
			giveUp() // the chat model is the same provider's, so that keywords are no way out
		}
		return err
	}
	if !q.Hybrid {
		err = ask(ctx)
		return vector, nil, err
	}
	ranking, err = search.RankWhile(ctx, db, search.Words{Text: q.Text, ProjectID: q.ProjectID, StatusFilter: q.StatusFilter, Filters: q.Filters}, ask)
	return vector, ranking, err
}

// newText checks what the model writes against the sources, which it is given as they stand in the
// prompt.
func newText(sources []Source, listener Listener) *reply.Checker {
	texts := make([]string, len(sources))
	for i, s := range sources {
		texts[i] = deref(s.Title) + "\n" + deref(s.TicketName) + "\n" + s.Text
	}
	if listener == nil {
		return reply.New(texts, nil)
	}
	return reply.New(texts, listener.Piece)
}

// ask has the model answer into text, piece by piece or as a whole. A text that is full ends the
// model's work, as the model's own limit does.
func (a *Answerer) ask(ctx context.Context, message string, text *reply.Checker, pieces bool) (said chat.Completion, err error) {
	if pieces {
		said, err = a.model.Stream(ctx, instructions, message, maxAnswerTokens, func(piece string) error {
			err := text.Write(piece)
			if errors.Is(err, reply.ErrFull) {
				return chat.ErrEnough
			}
			return err
		})
	} else {
		said, err = a.model.Complete(ctx, instructions, message, maxAnswerTokens)
	}
	if err == nil && ctx.Err() != nil {
		err = fault.Wrap(fault.Timeout, "The request ran out of time.", ctx.Err())
	}
	if err != nil || pieces {
		return said, err
	}
	if err = text.Write(said.Text); errors.Is(err, reply.ErrFull) {
		said.Text, said.Finish, err = said.Text[:min(len(said.Text), reply.MaxBytes)], chat.FinishLength, nil
	}
	return said, err
}
