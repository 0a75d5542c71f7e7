// Package enrich has a model describe documents: keywords, named entities, and how long they stay
// valid. It owns the prompt, the validation of answers, and the rate and concurrency of model
// calls. The database decides which document is next, how long a lease lasts and when a retry is
// due. The package does not know HTTP.
package enrich

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/time/rate"

	"tasklens/internal/chat"
	"tasklens/internal/rpc"
)

// Model answers in JSON of a schema, with one request per call.
type Model interface {
	CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error)
	ChatModel() string
}

// Options configure an Enricher. A zero value means the default.
type Options struct {
	PerMinute   int           // maximum model requests per minute, of all batches of this Enricher; 200
	Concurrency int           // concurrent requests of a batch; 4
	Attempts    int           // before a document counts as failed; 5
	Retry       time.Duration // after the first failure, doubled each time; 1 min
	Timeout     time.Duration // of a batch; 25 s
	// Warn receives failures. It is called from several goroutines.
	Warn func(ctx context.Context, message string, err error)
}

// Enricher runs batches. It is safe for concurrent use: two batches never claim the same document.
type Enricher struct {
	model   Model
	options Options
	bucket  *rate.Limiter
}

// New returns an Enricher. It sends no request.
func New(model Model, o Options) *Enricher {
	o.PerMinute = cmp.Or(o.PerMinute, 200)
	o.Concurrency = cmp.Or(o.Concurrency, 4)
	o.Attempts = cmp.Or(o.Attempts, 5)
	o.Retry = cmp.Or(o.Retry, time.Minute)
	o.Timeout = cmp.Or(o.Timeout, 25*time.Second)
	if o.Warn == nil {
		o.Warn = func(context.Context, string, error) {}
	}
	return &Enricher{model: model, options: o, bucket: newBucket(o.PerMinute, o.Concurrency)}
}

// newBucket returns a token bucket that starts at most perMinute requests in any minute. Its refill
// rate is reduced by its burst, so that both together stay within the limit.
func newBucket(perMinute, concurrency int) *rate.Limiter {
	full := min(concurrency, (perMinute+1)/2)
	return rate.NewLimiter(rate.Limit(float64(perMinute-full+1)/60), full)
}

// Stats counts documents. Total is Enriched plus Unenriched. Failed counts the unenriched documents
// whose last attempt failed.
type Stats struct {
	_ struct{} `schema:"EnrichStats"`

	Total      int64 `json:"total" min:"0" example:"44" doc:"~enriched~ and ~unenriched~ together."`
	Enriched   int64 `json:"enriched" min:"0" example:"42" doc:"Those whose current text is enriched."`
	Unenriched int64 `json:"unenriched" min:"0" example:"2"`
	Failed     int64 `json:"failed" min:"0" example:"1" doc:"Those of the unenriched whose last attempt failed."`
}

// ReadStats reads the progress of enrichment from the database.
func ReadStats(ctx context.Context, db rpc.Caller) (Stats, error) {
	return rpc.One[Stats](ctx, db, "enrichment_stats", nil)
}
