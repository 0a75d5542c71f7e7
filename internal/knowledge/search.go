package knowledge

import (
	"context"
	"fmt"

	"tasklens/internal/rpc"
	"tasklens/internal/search"
)

// Query is a search for documents.
type Query struct {
	Text      string           `query:"q" length:"2000"`
	Limit     int              `query:"limit" min:"1" max:"100" default:"10"`
	Threshold float64          `query:"threshold" min:"0" max:"1" default:"0.3" doc:"The similarity that a document must exceed."`
	Hybrid    bool             `query:"hybrid" default:"false" doc:"Order by ~final_score~ and return its parts."`
	Embedding search.Embedding // of the text, by the model that embeds documents
}

// Found is a document similar to a query.
type Found struct {
	_ struct{} `schema:"FoundDocument"`

	ID         string  `json:"id" format:"uuid"`
	Title      string  `json:"title" example:"Why we chose Raft"`
	Content    string  `json:"content" example:"The ledger's replicas agree by Raft."`
	Similarity float64 `json:"similarity" min:"-1" max:"1.0001" example:"0.52"`
	*Score             // of a hybrid search
}

// Score orders documents, with its parts; see search_documents_hybrid in the database.
type Score struct {
	KeywordScore   float64  `json:"keyword_score" min:"0" max:"1" doc:"The share of the query's keywords that the document's contain."`
	UtilityBoost   float64  `json:"utility_boost" min:"0" max:"1" doc:"ln(u + 1) / ln(11) of its utility u."`
	FreshnessBoost float64  `json:"freshness_boost" min:"0" max:"1" doc:"1 / (1 + age in days / 30)."`
	TemporalWeight float64  `json:"temporal_weight" min:"0"`
	FinalScore     float64  `json:"final_score" doc:"Orders the results. With ~hybrid~ only, as are its parts."`
	Keywords       []string `json:"keywords"`
	TemporalClass  *string  `json:"temporal_class" enum:"evergreen,current,dated,historical,unknown" example:"evergreen" doc:"How long the content holds, as written, else by enrichment."`
}

// Search finds documents by meaning, the most similar first or, if it is hybrid, those with the
// best score. It does not count retrievals: see Tracker.
func Search(ctx context.Context, db rpc.Caller, q Query) ([]Found, error) {
	embedding, err := search.Await(ctx, q.Embedding)
	if err == nil {
		embedding, err = embedding.Short()
	}
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	function, arguments := "search_documents", map[string]any{
		"query_embedding": embedding, "embedding_model": q.Embedding.Model(), "match_count": q.Limit, "match_threshold": q.Threshold,
	}
	if q.Hybrid {
		function, arguments["query_keywords"], arguments["track_retrievals"] = "search_documents_hybrid", Keywords(q.Text), false
	}
	return rpc.All[Found](ctx, db, function, arguments)
}

// Similar is a document similar to another one.
type Similar struct {
	_ struct{} `schema:"SimilarDocument"`

	ID         string  `json:"id" format:"uuid"`
	Title      string  `json:"title" example:"Decision 12 – how we make idempotency keys"`
	Similarity float64 `json:"similarity" min:"-1" max:"1.0001" example:"0.71"`
}

// SimilarTo returns the documents most similar to this one, at most limit (1 to 100). It returns
// none until the document is embedded, and fault.NotFound if it does not exist.
func SimilarTo(ctx context.Context, db rpc.Caller, id string, limit int) ([]Similar, error) {
	found, err := rpc.All[Similar](ctx, db, "find_similar_documents", map[string]any{"doc_id": id, "match_count": limit})
	if err == nil && len(found) == 0 { // either nothing is similar, or the document does not exist
		_, err = Get(ctx, db, id, false)
	}
	return found, err
}

// Named is a document that names an entity.
type Named struct {
	_ struct{} `schema:"NamedDocument"`

	ID            string  `json:"id" format:"uuid"`
	Title         string  `json:"title" example:"Why we chose Raft"`
	MatchedEntity string  `json:"matched_entity" example:"Ann"`
	MatchedType   *string `json:"matched_type" example:"person"`
}

// EntityQuery is a search for documents by the name, or a part of it, of an entity (a person, a
// system).
type EntityQuery struct {
	Name  string  `path:"name" length:"200"`
	Type  *string `query:"type" length:"200" doc:"Only entities of this type, case ignored."`
	Limit int     `query:"limit" min:"1" max:"100" default:"10"`
}

// ByEntity finds documents that name an entity, exact matches first.
func ByEntity(ctx context.Context, db rpc.Caller, query EntityQuery) ([]Named, error) {
	return rpc.All[Named](ctx, db, "find_documents_by_entity", map[string]any{"entity_name": query.Name, "entity_type": query.Type, "match_limit": query.Limit})
}
