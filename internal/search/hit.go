package search

// Hit is a search result: a ticket or, found by its own text, a project, which has nothing that
// only tickets have.
type Hit struct {
	_ struct{} `schema:"SearchResult" kinds:"kind: ticket TicketResult, project ProjectResult" doc:"A ticket, or a project found by its own text."`

	Kind        string       `json:"kind"`
	TicketID    *int64       `json:"ticket_id" of:"ticket" min:"1" example:"5"`
	TicketKey   *string      `json:"ticket_key" of:"ticket" example:"TX-400"`
	TicketName  *string      `json:"ticket_name" of:"ticket" example:"Customer charged twice when a payment is retried"`
	Status      *string      `json:"status" of:"ticket" example:"Done"`
	Text        string       `json:"text" example:"Customer charged twice when a payment is retried" doc:"Its best chunk."`
	Similarity  *float64     `json:"similarity,omitempty" min:"-1" max:"1.0001" example:"0.82" doc:"Absent if vector search did not find it."`
	Source      string       `json:"source" enum:"vector,keyword,filters" doc:"~vector~ if vector search found it; ~filters~ if there was no text to search for."`
	RRFScore    float64      `json:"rrf_score" min:"0" example:"0.03252247488101534" doc:"The sum of weight / (60 + rank) over the searches that found it."`
	FusedScore  float64      `json:"fused_score" min:"0" example:"0.03252247488101534" doc:"Orders the results, after those that the query names, and those that hold the identifier that it is; ~rrf_score~ with ~rrf~."`
	ProjectID   int64        `json:"project_id" min:"1" example:"1"`
	ProjectName string       `json:"project_name" example:"Checkout and Payments"`
	VectorRank  *int64       `json:"vector_rank" min:"1" example:"1" doc:"From 1. Null if that search did not find it."`
	KeywordRank *int64       `json:"keyword_rank" min:"1" example:"2" doc:"As ~vector_rank~."`
	MatchedBy   []string     `json:"matched_by" max:"2" enum:"vector,keyword" example:"[\"vector\", \"keyword\"]" doc:"The searches that found it."`
	Exact       bool         `json:"exact" doc:"The query names its key, or its text holds an identifier of the query whole."`
	Highlight   string       `json:"highlight" example:"Customer <mark>charged</mark> <mark>twice</mark> when a payment is retried" doc:"An excerpt as escaped HTML with ~<mark>~ around matches."`
	Explain     *Explanation `json:"explain,omitempty"`
	Comment     *Comment     `json:"comment" may:"ticket"` // that the text is of
	Fields
}

// Explanation is what each search adds to a hit's fused score. A search that did not find the hit
// is absent.
type Explanation struct {
	_ struct{} `schema:"Explanation" doc:"What each search that found it added to ~fused_score~."`

	Vector  *VectorPart  `json:"vector,omitempty"`
	Keyword *KeywordPart `json:"keyword,omitempty"`
}

// VectorPart is the contribution of vector search.
type VectorPart struct {
	Rank         int64   `json:"rank" min:"1"`
	Similarity   float64 `json:"similarity"`
	Weight       float64 `json:"weight" min:"0"`
	Contribution float64 `json:"contribution" min:"0" doc:"With ~rrf~ weight / (60 + rank)."`
}

// KeywordPart is the contribution of keyword search.
type KeywordPart struct {
	Rank         int64   `json:"rank" min:"1"`
	Score        float64 `json:"score" min:"0" doc:"The BM25F score; 0 for a ticket found by its key alone, and beyond the first 500."`
	Weight       float64 `json:"weight" min:"0"`
	Contribution float64 `json:"contribution" min:"0" doc:"With ~rrf~ weight / (60 + rank)."`
}

// hitRow is a row of search_hybrid, or of list_tickets, which has fewer columns.
type hitRow struct {
	Hit
	Fields              Fields   `json:"fields"`
	KeywordScore        *float64 `json:"keyword_score"`
	VectorContribution  float64  `json:"vector_contribution"`
	KeywordContribution float64  `json:"keyword_contribution"`
	HasMore             bool     `json:"has_more"`  // more hits follow this page; the same in each row
	Relaxed             bool     `json:"relaxed"`   // quoted phrases count as words; the same in each row
	Languages           []string `json:"languages"` // in which the query was read; the same in each row
}

// explain shows how the fused score adds up. The score itself comes from the database.
func (r hitRow) explain(weights Weights) *Explanation {
	var e Explanation
	if r.VectorRank != nil {
		e.Vector = &VectorPart{*r.VectorRank, *r.Similarity, weights.Vector, r.VectorContribution}
	}
	if r.KeywordRank != nil {
		e.Keyword = &KeywordPart{*r.KeywordRank, *r.KeywordScore, weights.Keyword, r.KeywordContribution}
	}
	return &e
}
