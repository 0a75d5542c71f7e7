package api

import (
	"context"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
	"tasklens/internal/threshold"
	"tasklens/internal/vector"
)

// present is what a response depends on beside its request, as the database has it now.
type present struct {
	Version  string               `json:"version"` // of the data
	Model    string               `json:"model"`   // that embeds what is compared
	Measured []threshold.Measured `json:"match_thresholds"`

	asked time.Time // when it was asked for
	usual float64   // the similarity that a text must exceed where a request does not say
}

// documentsVersion is the project id that stands for all documents; see data_version in the
// database.
const documentsVersion = -1

// present reads it for a corpus, and has filters checked. It comes before a query is embedded,
// which would be paid for in vain while the database is down.
func (a *API) present(ctx context.Context, who *caller, corpus answer.Corpus, filters filter.Filters) (present, error) {
	asked, arguments := time.Now(), map[string]any{"filters": filters}
	if corpus == answer.Documents { // tickets depend on all projects: words by how rare they are, links by the other ticket's name
		arguments["project_filter"] = documentsVersion
	}
	now, err := rpc.One[present](ctx, who.db, "data_version", arguments)
	now.asked = asked
	a.complete(&now, corpus)
	return now, err
}

func (a *API) complete(now *present, corpus answer.Corpus) {
	width := vector.Dimensions
	if corpus == answer.Documents || corpus == answer.All {
		width = vector.ShortDimensions
	}
	if corpus == answer.Documents || now.Model == "" {
		now.Model = a.EmbeddingModel
	}
	now.usual = threshold.Of(now.Model, width, a.MatchThreshold, now.Measured).Threshold
}
