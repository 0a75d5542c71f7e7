// Package answer answers questions from the tracker's own texts: it retrieves chunks over a threshold, picks relevant
// and different ones (MMR), asks a chat model that is given nothing else, and checks what the model cites. It knows
// neither how models are asked nor how the database is reached.
package answer

import (
	"context"
	"fmt"

	"tasklens/internal/mmr"
	"tasklens/internal/openai"
	"tasklens/internal/vector"
)

// candidates is how many chunks MMR chooses from.
const candidates = 40

// maxAnswerTokens bounds what the chat model may write.
const maxAnswerTokens = 800

// nothingRelevant is the answer where no text is similar enough; the chat model is not asked.
const nothingRelevant = "I found nothing relevant to this question in the projects and tickets searched."

// noAnswer is the answer where the chat model gave none.
const noAnswer = "The model gave no answer to this question."

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model embeds questions and answers from a prompt.
type Model interface {
	Embed(ctx context.Context, inputs []string) (vectors []vector.Vector, tokens int, err error)
	EmbeddingModel() string
	Complete(ctx context.Context, instructions, message string, maxTokens int) (openai.Completion, error)
	ChatModel() string
}

// Answerer answers questions. It is safe for concurrent use.
type Answerer struct {
	model Model
}

// New makes an answerer.
func New(model Model) *Answerer { return &Answerer{model: model} }

// Question is what is asked, and of which part of the tracker.
type Question struct {
	Text           string
	ProjectID      *int64
	StatusFilter   *string
	TopK           int     // chunks that the answer may draw on
	MatchThreshold float64 // cosine similarity that a chunk must exceed
	Lambda         float64 // MMR: 1 is relevance alone, 0 diversity alone
}

// Source is a chunk that the answer could draw on.
type Source struct {
	TicketID   *int64  `json:"ticket_id"` // nil for a project's own text
	Similarity float64 `json:"similarity"`
	ProjectID  int64   `json:"project_id"`
	TicketKey  *string `json:"ticket_key"`
	TicketName *string `json:"ticket_name"`
	ChunkID    string  `json:"chunk_id"`
	Text       string  `json:"text"`
	Cited      bool    `json:"cited"` // the answer cites it
}

// Answer is what was found. Its citations [1], [2] … count the sources from 1.
type Answer struct {
	Text           string
	Sources        []Source
	LowSimilarity  bool     // no text was over the threshold
	BestSimilarity *float64 // within the filters; nil where there was nothing to compare
	Model          string
}

// candidate is a row of retrieve_chunks.
type candidate struct {
	Source
	ProjectName   string    `json:"project_name"`
	Status        *string   `json:"status"`
	OverThreshold bool      `json:"over_threshold"`
	Similarities  []float64 `json:"similarities"` // to every candidate, in their order
}

// Answer answers a question from the texts that the caller may see.
func (a *Answerer) Answer(ctx context.Context, db Database, q Question) (Answer, error) {
	vectors, _, err := a.model.Embed(ctx, []string{q.Text})
	if err != nil {
		return Answer{}, fmt.Errorf("embed question: %w", err)
	}
	var found []candidate
	err = db.Call(ctx, "retrieve_chunks", map[string]any{
		"query_embedding": vectors[0], "embedding_model": a.model.EmbeddingModel(), "match_threshold": q.MatchThreshold,
		"match_count": candidates, "project_filter": q.ProjectID, "status_filter": q.StatusFilter,
	}, &found)
	if err != nil {
		return Answer{}, fmt.Errorf("retrieve chunks: %w", err)
	}
	answer := Answer{Sources: []Source{}, Model: a.model.ChatModel()}
	if len(found) > 0 {
		answer.BestSimilarity = &found[0].Similarity
	}
	if len(found) == 0 || !found[0].OverThreshold {
		answer.Text, answer.LowSimilarity = nothingRelevant, true
		return answer, nil
	}
	chosen := choose(found, q.TopK, q.Lambda)
	completion, err := a.model.Complete(ctx, instructions, prompt(q.Text, chosen), maxAnswerTokens)
	if err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	for _, c := range chosen {
		answer.Sources = append(answer.Sources, c.Source)
	}
	answer.Text = checkCitations(completion.Text, answer.Sources)
	if answer.Text == "" {
		answer.Text = noAnswer
	}
	if completion.Model != "" {
		answer.Model = completion.Model
	}
	return answer, nil
}

// choose picks top of the candidates by maximal marginal relevance.
func choose(found []candidate, top int, lambda float64) []candidate {
	relevance := make([]float64, len(found))
	for i, c := range found {
		relevance[i] = c.Similarity
	}
	var chosen []candidate
	for _, i := range mmr.Select(relevance, func(i, j int) float64 { return found[i].Similarities[j] }, top, lambda) {
		chosen = append(chosen, found[i])
	}
	return chosen
}
