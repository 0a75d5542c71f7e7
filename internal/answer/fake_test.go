package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/vector"
)

// model is a stand-in with fixed responses, or responses computed from the prompt.
type model struct {
	say      func(instructions, message string) chat.Completion
	messages []string
	embedErr error
	takes    time.Duration // to embed
	told     int           // characters
	room     int           // tokens that it may write
	tool     *chat.Schema
}

// Vector is also the embedding of the question.
func (m *model) Vector(context.Context) (vector.Vector, error) {
	time.Sleep(m.takes)
	return vector.Vector{1}, m.embedErr
}

func (m *model) Model() string     { return "embedder" }
func (m *model) ChatModel() string { return "chatter" }

func (m *model) Complete(_ context.Context, request chat.Request) (chat.Completion, error) {
	m.messages, m.room, m.tool = append(m.messages, request.Message), request.MaxTokens, request.Tool
	return m.say(request.Instructions, request.Message), nil
}

func (m *model) Stream(ctx context.Context, request chat.Request, tell func(string) error) (chat.Completion, error) {
	said, err := m.Complete(ctx, request)
	for _, r := range said.Text {
		if err == nil {
			err = tell(string(r))
			m.told++
		}
	}
	if errors.Is(err, chat.ErrEnough) {
		said.Text, said.Finish, err = said.Text[:m.told], chat.FinishLength, nil // as the client has it
	}
	return said, err
}

// rows is a database that returns these rows.
type rows struct {
	rows     []candidate
	function string
	given    map[string]any
}

func (d *rows) Call(_ context.Context, function string, arguments, result any) error {
	d.function, d.given = function, arguments.(map[string]any)
	text, err := json.Marshal(d.rows)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

func number[T any](x T) *T { return &x }

// chunkOf is a row: the chunk of a ticket at a position, with a similarity.
func chunkOf(ticket int64, place int, similarity float64, text string) candidate {
	return candidate{
		Source: Source{TicketID: &ticket, Similarity: &similarity, ProjectID: number(int64(1)), TicketKey: number(fmt.Sprintf("TX-%d", ticket)),
			TicketName: number("A name"), ChunkID: number(fmt.Sprintf("%d-%d", ticket, place)), Text: text, Project: number("Checkout")},
		Status: number("Done"), Kind: "ticket", Tokens: 100, OverThreshold: true,
	}
}

// alike sets the similarities of rows to those before them: by chunk ids "a b" in either order,
// else other.
func alike(rows []candidate, other float64, pairs map[string]float64) []candidate {
	for i := range rows {
		rows[i].Similarities = make([]float64, i)
		for j := range i {
			a, b := *rows[i].ChunkID, *rows[j].ChunkID
			value, known := pairs[a+" "+b]
			if !known {
				value, known = pairs[b+" "+a]
			}
			if !known {
				value = other
			}
			rows[i].Similarities[j] = value
		}
	}
	return rows
}

func ids(chosen []candidate) (list []string) {
	for _, c := range chosen {
		list = append(list, *c.ChunkID)
	}
	return list
}
