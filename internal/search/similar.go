package search

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tasklens/internal/chunk"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/vector"
)

// comparedBytes bounds how much of a text is looked at for its first chunk: far more than that has,
// and little enough to be measured in a fraction of a second.
const comparedBytes = 32 << 10

// Model embeds texts, by any of a provider's models.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, tokens int, err error)
}

// Comparer finds the tickets that are most like a ticket, or like a text. It is safe for concurrent
// use.
type Comparer struct {
	model     Model
	tokenizer chunk.Tokenizer
}

// NewComparer makes a comparer. The tokenizer is the one that tickets are indexed with.
func NewComparer(model Model, tokenizer chunk.Tokenizer) *Comparer {
	return &Comparer{model: model, tokenizer: tokenizer}
}

// Similar is a ticket that is like another, or like a text.
type Similar struct {
	TicketID   int64   `json:"ticket_id"`
	TicketKey  string  `json:"ticket_key"`
	Similarity float64 `json:"similarity"` // cosine of its best chunk, -1 to 1
	TicketName string  `json:"ticket_name"`
	ProjectID  int64   `json:"project_id"`
	Status     string  `json:"status"`
}

// ToTicket finds the tickets most like this one, at most limit (1 to 100), the most alike first. A
// ticket that is embedded costs one call of the database and none of the model; another is compared
// by its present text. fault.NotFound where there is no such ticket, or none that the caller may
// see. model is that of the stored embeddings.
func (c *Comparer) ToTicket(ctx context.Context, db Database, model string, ticketID int64, filters filter.Filters, limit int) ([]Similar, error) {
	var rows []struct {
		ProjectName string    `json:"project_name"`
		TicketName  string    `json:"ticket_name"`
		Text        *string   `json:"text"`
		Embedded    bool      `json:"embedded"`
		Results     []Similar `json:"results"`
	}
	arguments := narrow(map[string]any{"ticket_id": ticketID, "embedding_model": model, "match_count": limit}, filters)
	if err := db.Call(ctx, "find_similar_tickets", arguments, &rows); err != nil {
		return nil, fmt.Errorf("find tickets like a ticket: %w", err)
	}
	switch {
	case len(rows) == 0:
		return nil, fault.New(fault.NotFound, "There is no such ticket.")
	case rows[0].Embedded:
		return rows[0].Results, nil
	case rows[0].Text == nil:
		return []Similar{}, nil // nothing but blanks: nothing is like it
	}
	header := chunk.Header(c.tokenizer, rows[0].ProjectName, rows[0].TicketName)
	return c.compare(ctx, db, model, header, *rows[0].Text, narrow(map[string]any{"exclude_ticket": ticketID, "match_count": limit}, filters))
}

// ToText finds the tickets most like a draft that is not filed yet: its name in the first line,
// then what it says. projectID and filters narrow; a project that does not exist has no tickets.
func (c *Comparer) ToText(ctx context.Context, db Database, model, text string, projectID *int64, filters filter.Filters, limit int) ([]Similar, error) {
	// As the ticket would be embedded once it is filed, but for the name of its project, which
	// would only lift all tickets of a project alike.
	name, _, _ := strings.Cut(text, "\n")
	header := chunk.Header(c.tokenizer, name)
	return c.compare(ctx, db, model, header, text, narrow(map[string]any{"project_filter": projectID, "match_count": limit}, filters))
}

// compare embeds the first chunk of a text, as tickets are compared by theirs.
func (c *Comparer) compare(ctx context.Context, db Database, model, header, text string, arguments map[string]any) ([]Similar, error) {
	first := chunk.Split(c.tokenizer, beginning(text))[0]
	soon, cancel := context.WithTimeout(ctx, embedBudget)
	defer cancel()
	vectors, _, err := c.model.Embed(soon, model, []string{chunk.Input(header, first.Text)})
	if err != nil {
		return nil, fmt.Errorf("embed text to compare: %w", err)
	}
	arguments["query_embedding"], arguments["embedding_model"] = vectors[0], model
	results := []Similar{}
	if err := db.Call(ctx, "similar_tickets", arguments, &results); err != nil {
		return nil, fmt.Errorf("find tickets like a text: %w", err)
	}
	return results, nil
}

// beginning cuts a text at a character, after at most comparedBytes.
func beginning(text string) string {
	if len(text) <= comparedBytes {
		return text
	}
	end := comparedBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
