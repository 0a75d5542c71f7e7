package worker

import (
	"context"

	"tasklens/internal/rpc"
)

// Status is the state of indexing. It counts sources, not jobs: an often edited ticket counts once.
type Status struct {
	Pending              int     `json:"pending" min:"0" example:"12" doc:"Waiting for a worker."`
	Running              int     `json:"running" min:"0" example:"4" doc:"Being embedded."`
	Failed               int     `json:"failed" min:"0" example:"0" doc:"Waiting for another attempt."`
	Dead                 int     `json:"dead" min:"0" example:"0" doc:"Failed too often."`
	OldestPendingSeconds float64 `json:"oldest_pending_seconds" min:"0" example:"0.42" doc:"Age of the oldest pending or failed source, or of the oldest change that waits to be copied, or 0."`
	Chunks               int     `json:"chunks" min:"0" example:"15050" doc:"Chunks that are searched."`
	SourcesWithoutChunks int     `json:"sources_without_chunks" min:"0" example:"3" doc:"Sources with a text but no chunk of the model in use."`
	Truncated            int     `json:"truncated" min:"0" example:"0" doc:"Sources indexed only up to the 200,000th character of a text, or the 2,000th chunk, or without the end of a chunk that the model does not take whole."`
	RefusedRows          int     `json:"refused_rows" min:"0" example:"0" doc:"Rows of your own tables that cannot be copied as they are."`
	WaitingCopies        int     `json:"waiting_copies" min:"0" example:"0" doc:"Changes of your own tables that wait to be copied."`
	BlockedBy            string  `json:"blocked_by,omitempty" enum:"model_quota,model_key" doc:"Why texts wait without using up attempts: the model provider's quota is used up, or it refuses the key. Absent if neither."`
	WaitingLanguages     int     `json:"waiting_languages" min:"0" example:"0" doc:"Texts whose words are still those of a former language of their project."`
}

// ReadStatus reads the state of indexing for a model.
func ReadStatus(ctx context.Context, db rpc.Caller, model string) (Status, error) {
	return rpc.One[Status](ctx, db, "embedding_status", map[string]any{"embedding_model": model})
}
