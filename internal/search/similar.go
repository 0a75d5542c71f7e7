package search

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"tasklens/internal/chunk"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/vector"
)

// comparedBytes bounds the prefix of a text that is tokenized for its first chunk: far longer than
// any first chunk, and still tokenized in a fraction of a second.
const comparedBytes = 32 << 10

// Model embeds texts with any model of one provider.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, cut []int, err error)
}

// Comparer finds the tickets most similar to a ticket or a text. It is safe for concurrent use.
type Comparer struct {
	model     Model
	tokenizer chunk.Tokenizer
}

// NewComparer returns a Comparer. The tokenizer must be the one that tickets are indexed with.
func NewComparer(model Model, tokenizer chunk.Tokenizer) *Comparer {
	return &Comparer{model: model, tokenizer: tokenizer}
}

// Similar is a ticket similar to another ticket or to a text.
type Similar struct {
	_ struct{} `schema:"SimilarTicket" example:"{\"ticket_id\": 31, \"ticket_key\": \"MOB-152\", \"similarity\": 0.7310545267430243, \"ticket_name\": \"Retry button sends the payment twice from the app too\", \"project_id\": 4, \"status\": \"Done\", \"vector_rank\": 2, \"keyword_rank\": 1, \"keyword_score\": 21.4, \"vector_contribution\": 0.2064, \"keyword_contribution\": 0.4117, \"fused_score\": 0.6181, \"duplicate_score\": 0.5334, \"likely_duplicate\": true}"`

	TicketID            int64    `json:"ticket_id" min:"1"`
	TicketKey           string   `json:"ticket_key"`
	Similarity          *float64 `json:"similarity" min:"-1.0001" max:"1.0001" doc:"Of its nearest chunk; null while it is not embedded."`
	TicketName          string   `json:"ticket_name"`
	ProjectID           int64    `json:"project_id" min:"1"`
	Status              string   `json:"status"`
	VectorRank          *int64   `json:"vector_rank" min:"1" doc:"By embeddings; null if it is not among the nearest."`
	KeywordRank         *int64   `json:"keyword_rank" min:"1" doc:"By words; null if it is not among the best 100."`
	KeywordScore        *float64 `json:"keyword_score" min:"0" doc:"Its score by words."`
	VectorContribution  float64  `json:"vector_contribution" min:"0" max:"1" doc:"0.3 × max(0, (similarity − u) / (1 − u)), where u is the similarity of unrelated texts."`
	KeywordContribution float64  `json:"keyword_contribution" min:"0" max:"1" doc:"0.7 × keyword_score / what the text itself would score."`
	FusedScore          float64  `json:"fused_score" min:"0" max:"1.0001" doc:"The sum of both."`
	DuplicateScore      *float64 `json:"duplicate_score" min:"0" max:"1.0001" doc:"1 for a copy (~docs/duplicates.md~ has the formula). Null if nothing was compared by words."`
	LikelyDuplicate     bool     `json:"likely_duplicate" doc:"Whether ~duplicate_score~ reaches the threshold of the model."`
}

// Draft is a text to compare, as if it were a ticket: its first line is the name.
type Draft struct {
	_ struct{} `schema:"DraftRequest"`

	Text      string         `json:"text" length:"100000" example:"Charged twice" doc:"The draft, of which what a reader sees is compared."`
	ProjectID *int64         `json:"project_id" min:"1" example:"1" doc:"An unknown one finds nothing."`
	Filters   filter.Filters `json:"filters" default:""`
	Limit     int            `json:"limit" min:"1" max:"100" default:"5"`
}

// stored is what the database returns for a ticket to compare: similar tickets, or, while its
// embedding is missing or out of date, the text to compare instead.
type stored struct {
	Place       int       `json:"place"` // in a batch, from 1
	TicketID    int64     `json:"ticket_id"`
	ProjectName string    `json:"project_name"`
	TicketName  string    `json:"ticket_name"`
	Text        *string   `json:"text"`
	Embedded    bool      `json:"embedded"`
	Results     []Similar `json:"results"`
}

// draft is a text to compare, in the form of the database's argument.
type draft struct {
	QueryText      string        `json:"query_text"`
	QueryEmbedding vector.Vector `json:"query_embedding"`
	ProjectFilter  *int64        `json:"project_filter"`
	ExcludeTicket  *int64        `json:"exclude_ticket"`
	input          string        // the text to embed
}

// errNoTicket: the ticket does not exist, or the caller may not see it.
func errNoTicket() error { return fault.New(fault.NotFound, "There is no such ticket.") }

// ToTicket finds the tickets most similar to this one, at most limit (1 to 100), best first. An
// embedded ticket costs one database call; any other is compared by its current text.
// fault.NotFound if the caller sees no such ticket. model is that of the stored embeddings.
func (c *Comparer) ToTicket(ctx context.Context, db Database, model string, ticketID int64, filters filter.Filters, limit int) ([]Similar, error) {
	var rows []stored
	arguments := narrow(map[string]any{"ticket_id": ticketID, "embedding_model": model, "match_count": limit}, filters)
	if err := db.Call(ctx, "find_similar_tickets", arguments, &rows); err != nil {
		return nil, fmt.Errorf("find tickets like a ticket: %w", err)
	}
	switch {
	case len(rows) == 0:
		return nil, errNoTicket()
	case rows[0].Embedded:
		return rows[0].Results, nil
	case rows[0].Text == nil:
		return []Similar{}, nil // only whitespace: nothing is similar
	}
	rows[0].TicketID = ticketID
	return c.compare(ctx, db, model, c.ofStored(rows[0]), filters, limit)
}

// ToText finds the tickets most similar to a draft.
func (c *Comparer) ToText(ctx context.Context, db Database, model string, text Draft) ([]Similar, error) {
	seen, err := visible(ctx, db, []string{text.Text})
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(seen[0]) == "" {
		return []Similar{}, nil // nothing is similar to what nobody sees
	}
	return c.compare(ctx, db, model, c.ofText(seen[0], text.ProjectID), text.Filters, text.Limit)
}

// ofStored prepares a ticket that is compared by its text.
func (c *Comparer) ofStored(ticket stored) draft {
	return draft{
		QueryText: beginning(*ticket.Text), ExcludeTicket: &ticket.TicketID,
		input: c.input(chunk.Header(c.tokenizer, ticket.ProjectName, ticket.TicketName), *ticket.Text),
	}
}

// ofText prepares a text as a filed ticket would be embedded, without the project's name, which
// would only favour that project's tickets.
func (c *Comparer) ofText(text string, projectID *int64) draft {
	name, _, _ := strings.Cut(text, "\n")
	return draft{QueryText: beginning(text), ProjectFilter: projectID, input: c.input(chunk.Header(c.tokenizer, name), text)}
}

// input is the first chunk of a text, by which tickets are compared.
func (c *Comparer) input(header, text string) string {
	return chunk.Input(header, chunk.Split(c.tokenizer, beginning(text))[0].Text)
}

// embed embeds drafts in one call of the model.
func (c *Comparer) embed(ctx context.Context, model string, drafts []draft) error {
	inputs := make([]string, len(drafts))
	for i, d := range drafts {
		inputs[i] = d.input
	}
	soon, cancel := context.WithTimeout(ctx, Budget(ctx, embedBudget, embedPart)*time.Duration(len(drafts)))
	defer cancel()
	vectors, _, err := c.model.Embed(soon, model, inputs)
	if err != nil {
		return fmt.Errorf("embed text to compare: %w", err)
	}
	for i := range drafts {
		drafts[i].QueryEmbedding = vectors[i]
	}
	return nil
}

func (c *Comparer) compare(ctx context.Context, db Database, model string, text draft, filters filter.Filters, limit int) ([]Similar, error) {
	one := []draft{text}
	if err := c.embed(ctx, model, one); err != nil {
		return nil, err
	}
	results := []Similar{}
	arguments := narrow(map[string]any{
		"query_text": text.QueryText, "query_embedding": one[0].QueryEmbedding, "embedding_model": model, "match_count": limit,
		"project_filter": text.ProjectFilter, "exclude_ticket": text.ExcludeTicket,
	}, filters)
	if err := db.Call(ctx, "similar_tickets", arguments, &results); err != nil {
		return nil, fmt.Errorf("find tickets like a text: %w", err)
	}
	return results, nil
}

// beginning cuts a text after at most comparedBytes, between characters.
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
