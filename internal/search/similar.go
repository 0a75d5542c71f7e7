package search

import (
	"context"
	"fmt"
	"strings"

	"tasklens/internal/chunk"
	"tasklens/internal/clean"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
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
	ProjectName   string    `json:"project_name"`
	TicketName    string    `json:"ticket_name"`
	Text          *string   `json:"text"`
	Embedded      bool      `json:"embedded"`
	Results       []Similar `json:"results"`
	ExcludeTicket *int64    `json:"exclude_ticket"`
}

// ToTicket finds the tickets most similar to a ticket, at most limit (1 to 100), best first. Where
// it has no current embedding, it is compared by its text. model is that of the stored embeddings.
// fault.NotFound if the caller sees no such ticket.
func (c *Comparer) ToTicket(ctx context.Context, db rpc.Caller, model string, ticket Name, filters filter.Filters, limit int) ([]Similar, error) {
	rows, err := rpc.All[stored](ctx, db, "find_similar_tickets", map[string]any{
		"ticket_id": ticket.TicketID, "ticket_key": ticket.TicketKey, "embedding_model": model, "match_count": limit, "filters": filters,
	})
	if err == nil && len(rows) == 0 {
		err = errNoTicket()
	}
	if err != nil {
		return nil, err
	}
	switch row := rows[0]; {
	case row.Embedded:
		return row.Results, nil
	case row.Text == nil:
		return []Similar{}, nil
	default:
		header := chunk.Header(c.tokenizer, row.ProjectName, row.TicketName)
		return c.toText(ctx, db, model, header, *row.Text, map[string]any{"exclude_ticket": row.ExcludeTicket, "match_count": limit, "filters": filters})
	}
}

// ToDraft finds the tickets most similar to a draft, which is embedded as a filed ticket would be,
// but without the project's name, which would only favour that project's tickets.
func (c *Comparer) ToDraft(ctx context.Context, db rpc.Caller, model string, draft Draft) ([]Similar, error) {
	text, err := visible(ctx, db, draft.Text)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return []Similar{}, nil
	}
	name, _, _ := strings.Cut(text, "\n")
	return c.toText(ctx, db, model, chunk.Header(c.tokenizer, name), text,
		map[string]any{"match_count": draft.Limit, "filters": draft.Filters})
}

// toText finds the tickets most similar to a text by its words and by its first chunk, with this
// header. It adds to the arguments of the call.
func (c *Comparer) toText(ctx context.Context, db rpc.Caller, model, header, text string, arguments map[string]any) ([]Similar, error) {
	text = clean.ClipBytes(text, comparedBytes)
	embedding, err := c.embed(ctx, model, chunk.Input(header, chunk.Split(c.tokenizer, text)[0].Text))
	if err != nil {
		return nil, err
	}
	arguments["query_text"], arguments["query_embedding"], arguments["embedding_model"] = text, embedding, model
	return rpc.All[Similar](ctx, db, "similar_tickets", arguments)
}

func (c *Comparer) embed(ctx context.Context, model, input string) (vector.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, Budget(ctx, embedBudget, embedPart))
	defer cancel()
	vectors, _, err := c.model.Embed(ctx, model, []string{input})
	if err != nil {
		return nil, fmt.Errorf("embed text to compare: %w", err)
	}
	return vectors[0], nil
}
