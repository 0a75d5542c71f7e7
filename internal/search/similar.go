package search

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"tasklens/internal/chunk"
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

// Compared is one ticket or draft to compare.
type Compared struct {
	Name
	Text      *string `json:"text" length:"100000"` // of a draft
	ProjectID *int64  `json:"project_id" min:"1"`   // narrows what a draft is compared with
	Err       error   `json:"-"`                    // why it cannot be compared
}

// Outcome is the result of one comparison, or its error.
type Outcome struct {
	Results []Similar `json:"results,omitzero" max:"100"`
	Err     error     `json:"-"`
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

// draft is a text to compare.
type draft struct {
	place         int // among all that are compared
	text          string
	input         string // to embed
	projectID     *int64
	excludeTicket *int64
}

// Compare finds the tickets most similar to each of several tickets and drafts, at most limit (1 to
// 100), best first. An embedded ticket costs one database call; any other is compared by its
// current text, and one call of the model embeds all texts. model is that of the stored embeddings.
// An item that fails, such as an unknown ticket, does not stop the others. The error is the
// database's.
func (c *Comparer) Compare(ctx context.Context, db Database, model string, all []Compared, filters filter.Filters, limit int) ([]Outcome, error) {
	outcomes := make([]Outcome, len(all))
	var drafts []draft
	areChecked := false // the filters, by the database
	for i, one := range all {
		outcomes[i].Results = []Similar{} // to what nobody sees
		switch {
		case one.Err != nil:
			outcomes[i] = Outcome{Err: one.Err}
		case one.Text != nil:
			text, err := visible(ctx, db, *one.Text)
			if err != nil {
				return nil, err
			}
			if strings.TrimSpace(text) != "" {
				drafts = append(drafts, c.ofText(i, text, one.ProjectID))
			}
		default:
			row, err := findSimilar(ctx, db, model, one.Name, filters, limit)
			switch {
			case err != nil:
				return nil, err
			case row == nil:
				outcomes[i] = Outcome{Err: errNoTicket()}
			case row.Embedded:
				outcomes[i].Results = row.Results
			case row.Text != nil:
				drafts = append(drafts, c.ofStored(i, *row))
			}
			areChecked = true
		}
	}
	if len(drafts) == 0 {
		if areChecked {
			return outcomes, nil
		}
		_, err := findSimilar(ctx, db, model, Name{}, filters, limit)
		return outcomes, err
	}
	vectors, err := c.embed(ctx, model, drafts)
	if err != nil {
		for _, draft := range drafts {
			outcomes[draft.place] = Outcome{Err: err}
		}
		if ctx.Err() == nil {
			err = nil // the others have outcomes
		}
		return outcomes, err
	}
	for i, draft := range drafts {
		arguments := narrow(map[string]any{
			"query_text": draft.text, "query_embedding": vectors[i], "embedding_model": model, "match_count": limit,
			"project_filter": draft.projectID, "exclude_ticket": draft.excludeTicket,
		}, filters)
		if err := db.Call(ctx, "similar_tickets", arguments, &outcomes[draft.place].Results); err != nil {
			return nil, fmt.Errorf("find tickets like a text: %w", err)
		}
	}
	return outcomes, nil
}

// findSimilar returns nil for an unknown ticket.
func findSimilar(ctx context.Context, db Database, model string, ticket Name, filters filter.Filters, limit int) (*stored, error) {
	var rows []stored
	arguments := narrow(map[string]any{"ticket_id": ticket.TicketID, "ticket_key": ticket.TicketKey, "embedding_model": model, "match_count": limit}, filters)
	if err := db.Call(ctx, "find_similar_tickets", arguments, &rows); err != nil {
		return nil, fmt.Errorf("find tickets like a ticket: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// ofStored prepares a ticket that is compared by its text.
func (c *Comparer) ofStored(place int, ticket stored) draft {
	return draft{
		place: place, text: beginning(*ticket.Text), excludeTicket: ticket.ExcludeTicket,
		input: c.input(chunk.Header(c.tokenizer, ticket.ProjectName, ticket.TicketName), *ticket.Text),
	}
}

// ofText prepares a text as a filed ticket would be embedded, without the project's name, which
// would only favour that project's tickets.
func (c *Comparer) ofText(place int, text string, projectID *int64) draft {
	name, _, _ := strings.Cut(text, "\n")
	return draft{place: place, text: beginning(text), projectID: projectID, input: c.input(chunk.Header(c.tokenizer, name), text)}
}

// input is the first chunk of a text, by which tickets are compared.
func (c *Comparer) input(header, text string) string {
	return chunk.Input(header, chunk.Split(c.tokenizer, beginning(text))[0].Text)
}

// embed embeds drafts in one call of the model.
func (c *Comparer) embed(ctx context.Context, model string, drafts []draft) ([]vector.Vector, error) {
	inputs := make([]string, len(drafts))
	for i, d := range drafts {
		inputs[i] = d.input
	}
	soon, cancel := context.WithTimeout(ctx, Budget(ctx, embedBudget, embedPart)*time.Duration(len(drafts)))
	defer cancel()
	vectors, _, err := c.model.Embed(soon, model, inputs)
	if err != nil {
		return nil, fmt.Errorf("embed text to compare: %w", err)
	}
	return vectors, nil
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
