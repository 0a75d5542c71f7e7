package knowledge

import (
	"context"
	"fmt"

	"tasklens/internal/keyword"
	"tasklens/internal/search"
)

// Query is a search for documents.
type Query struct {
	Text      string
	Embedding search.Embedding // of the text, by the model that documents are embedded with
	Limit     int              // 1 to 100
	Threshold float64          // cosine similarity that a document must exceed
}

// Found is a document that is similar to a query.
type Found struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Content    string  `json:"content"`
	Similarity float64 `json:"similarity"` // cosine
}

// Weighed is a document with all that its place is made of; search_documents_hybrid in the database says how.
type Weighed struct {
	Found
	KeywordScore   float64  `json:"keyword_score"`   // share of the query's keywords that it has
	UtilityBoost   float64  `json:"utility_boost"`   // 0 to 1
	FreshnessBoost float64  `json:"freshness_boost"` // 1 when new, towards 0
	TemporalWeight float64  `json:"temporal_weight"`
	FinalScore     float64  `json:"final_score"` // the order
	Keywords       []string `json:"keywords"`
	TemporalClass  *string  `json:"temporal_class"`
}

// Search finds documents by meaning alone, the most similar first.
func Search(ctx context.Context, db Database, q Query) ([]Found, error) {
	found := []Found{}
	if err := find(ctx, db, "search_documents", q, nil, &found); err != nil {
		return nil, err
	}
	return found, nil
}

// Hybrid finds documents by meaning, and orders them by their final score. It counts no retrieval: see Tracker.
func Hybrid(ctx context.Context, db Database, q Query) ([]Weighed, error) {
	found := []Weighed{}
	more := map[string]any{"query_keywords": keyword.Query(q.Text), "track_retrievals": false}
	if err := find(ctx, db, "search_documents_hybrid", q, more, &found); err != nil {
		return nil, err
	}
	return found, nil
}

// find calls a searching function with the query's embedding and what more it takes.
func find(ctx context.Context, db Database, function string, q Query, more map[string]any, found any) error {
	embedding, err := search.Await(ctx, q.Embedding)
	if err != nil {
		return fmt.Errorf("embed query: %w", err)
	}
	short, err := embedding.Short()
	if err != nil {
		return fmt.Errorf("embed query: %w", err)
	}
	arguments := map[string]any{
		"query_embedding": short, "embedding_model": q.Embedding.Model(), "match_count": q.Limit, "match_threshold": q.Threshold,
	}
	for name, value := range more {
		arguments[name] = value
	}
	if err := db.Call(ctx, function, arguments, found); err != nil {
		return fmt.Errorf("search documents: %w", err)
	}
	return nil
}

// Similar is a document that is like another.
type Similar struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Similarity float64 `json:"similarity"` // cosine
}

// SimilarTo finds the documents most like this one, at most limit (1 to 100), the most alike first; none as long as it
// is not embedded. fault.NotFound where there is no such document.
func SimilarTo(ctx context.Context, db Database, id string, limit int) ([]Similar, error) {
	found := []Similar{}
	if err := db.Call(ctx, "find_similar_documents", map[string]any{"doc_id": id, "match_count": limit}, &found); err != nil {
		return nil, fmt.Errorf("find documents like a document: %w", err)
	}
	if len(found) == 0 {
		// Nothing is like it, or it is not there.
		if _, err := Get(ctx, db, id); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Named is a document in which an entity is named.
type Named struct {
	ID            string  `json:"id"`
	Title         string  `json:"title"`
	MatchedEntity string  `json:"matched_entity"`
	MatchedType   *string `json:"matched_type"` // nil where the entity has none
}

// ByEntity finds the documents that name a person, a system or the like by this name or a part of it, whole names first.
// kind narrows to entities of one type; nil takes all. limit is 1 to 100.
func ByEntity(ctx context.Context, db Database, name string, kind *string, limit int) ([]Named, error) {
	found := []Named{}
	err := db.Call(ctx, "find_documents_by_entity", map[string]any{"entity_name": name, "entity_type": kind, "match_limit": limit}, &found)
	if err != nil {
		return nil, fmt.Errorf("find documents by an entity: %w", err)
	}
	return found, nil
}
