package knowledge

import (
	"context"
	"encoding/json"
	"time"

	"tasklens/internal/rpc"
)

// Draft is a document to write. A nil field leaves an existing document's value unchanged.
type Draft struct {
	_ struct{} `schema:"DocumentRequest"`

	Title         string    `json:"title" length:"500" example:"Why we chose Raft"`
	Content       string    `json:"content" example:"The ledger's replicas agree by Raft, because Ann's team can explain it." doc:"May be empty; then the title is embedded."`
	ID            *string   `json:"id,omitempty" format:"uuid"`
	Keywords      *[]string `json:"keywords,omitempty" length:"100" example:"[\"raft\", \"consensus\"]" doc:"Replace the keywords of the previous request; left out, those stay, as do keywords added in the database or by enrichment."`
	TemporalClass *string   `json:"temporal_class,omitempty" enum:"evergreen,current,dated,historical,unknown" example:"evergreen" doc:"How long the content holds."`
	Archived      *bool     `json:"archived,omitempty" doc:"Whether search leaves it out."`
}

// Written is the result of writing a draft.
type Written struct {
	_ struct{} `schema:"DocumentWritten"`

	ID              string `json:"id" format:"uuid"`
	EmbeddingStatus string `json:"embedding_status" enum:"pending,complete,failed" doc:"Of the current text."`
}

// Document is a document with all its fields.
type Document struct {
	_ struct{} `schema:"Document"`

	ID               string          `json:"id" format:"uuid"`
	Title            string          `json:"title" example:"Why we chose Raft"`
	Content          string          `json:"content" example:"The ledger's replicas agree by Raft, because Ann's team can explain it."`
	Keywords         []string        `json:"keywords" example:"[\"raft\", \"consensus\", \"ledger\"]" doc:"Written keywords, then those of enrichment."`
	NamedEntities    json.RawMessage `json:"named_entities" schema:"NamedEntities" example:"[{\"name\": \"Ann\", \"type\": \"person\"}]"`
	TemporalClass    *string         `json:"temporal_class" enum:"evergreen,current,dated,historical,unknown" example:"evergreen" doc:"How long the content holds, as written, else by enrichment."`
	Archived         bool            `json:"archived"`
	EmbeddingStatus  string          `json:"embedding_status" enum:"pending,complete,failed" example:"complete" doc:"Of the current text."`
	Truncated        bool            `json:"truncated" doc:"Search ignores what follows the content's 200,000th character."`
	UtilityScore     float64         `json:"utility_score" min:"0" example:"0.5" doc:"How useful readers find it, by their votes; usually at most 10."`
	RetrievalCount   int64           `json:"retrieval_count" min:"0" example:"3"`
	LastRetrievedAt  *time.Time      `json:"last_retrieved_at" example:"2026-01-07T09:12:33.5Z"`
	RetrievalQueries []string        `json:"retrieval_queries" max:"50" example:"[\"how do replicas agree\"]" doc:"The last 50 different queries that found it, 200 characters of each; empty for users."`
	EnrichedAt       *time.Time      `json:"enriched_at" example:"2026-01-05T09:01:00Z"`
	EnrichmentModel  *string         `json:"enrichment_model" example:"gpt-4o-mini"`
	EnrichmentError  *string         `json:"enrichment_error"`
	CreatedAt        time.Time       `json:"created_at" example:"2026-01-05T09:00:00Z" doc:"~freshness_boost~ counts from here."`
	UpdatedAt        time.Time       `json:"updated_at" example:"2026-01-05T09:01:00Z"`
}

// Put writes a document and reports whether it is new. Searches find it once a worker has embedded
// it.
func Put(ctx context.Context, db rpc.Caller, draft Draft) (written Written, created bool, err error) {
	row, err := rpc.One[struct {
		Written
		Created bool `json:"created"` // false if it replaced an earlier text
	}](ctx, db, "upsert_documents", map[string]any{"documents": []Draft{draft}})
	return row.Written, row.Created, err
}

// Get reads a document, with its content as stored or as readers see it. It returns fault.NotFound
// if there is none.
func Get(ctx context.Context, db rpc.Caller, id string, visible bool) (Document, error) {
	rows, err := rpc.All[Document](ctx, db, "get_document", map[string]any{"doc_id": id, "visible": visible})
	if err == nil && len(rows) == 0 {
		err = noDocument()
	}
	if err != nil {
		return Document{}, err
	}
	return rows[0], nil
}

// Delete deletes a document. It returns fault.NotFound if there is none.
func Delete(ctx context.Context, db rpc.Caller, id string) error {
	deleted, err := rpc.Value[bool](ctx, db, "delete_document", map[string]any{"doc_id": id})
	if err == nil && !deleted {
		return noDocument()
	}
	return err
}

// Rate records the caller's vote on a document. A user's vote replaces their earlier one; every
// vote of the service counts. It returns fault.NotFound if there is no such document.
func Rate(ctx context.Context, db rpc.Caller, id string, helpful bool) error {
	score, err := rpc.Value[*float64](ctx, db, "rate_document", map[string]any{"doc_id": id, "helpful": helpful})
	if err == nil && score == nil {
		return noDocument()
	}
	return err
}
