// Package enrich has a model read documents and say what they are about: keywords, the names in them, and how long they
// hold. It owns what the model is asked, what of its answer is believed, and how fast and how many at a time it is asked.
// Which document is next, for how long it is taken and when it is tried again is the database's; it knows nothing of HTTP.
package enrich

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"tasklens/internal/chat"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model answers in JSON of a schema, with one request a call.
type Model interface {
	CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error)
	ChatModel() string
}

// Options say how fast, and how often. What is zero has the default.
type Options struct {
	PerMinute   int           // the most requests to the model in any minute, of all batches of this Enricher; 200
	Concurrency int           // requests under way at a time, of all its batches; 4
	Attempts    int           // after which a document is left alone; 5
	Retry       time.Duration // after the first failure, then twice as long each time; 1 min
	Timeout     time.Duration // of a batch; 25 s
	// Warn is told what fails. It is called from several goroutines.
	Warn func(message string, err error)
}

// Enricher runs batches. It is safe for concurrent use: two batches never take the same document.
type Enricher struct {
	model   Model
	options Options
	bucket  *rate.Limiter
	slots   chan struct{}
}

// New makes an Enricher; nothing is asked before the first batch.
func New(model Model, o Options) *Enricher {
	o.PerMinute = cmp.Or(o.PerMinute, 200)
	o.Concurrency = cmp.Or(o.Concurrency, 4)
	o.Attempts = cmp.Or(o.Attempts, 5)
	o.Retry = cmp.Or(o.Retry, time.Minute)
	o.Timeout = cmp.Or(o.Timeout, 25*time.Second)
	return &Enricher{model: model, options: o, bucket: newBucket(o.PerMinute, o.Concurrency), slots: make(chan struct{}, o.Concurrency)}
}

// newBucket is a token bucket that lets at most perMinute requests begin within any minute: what its full bucket lets
// through at once is not given a second time by what flows in.
func newBucket(perMinute, concurrency int) *rate.Limiter {
	full := min(concurrency, (perMinute+1)/2)
	return rate.NewLimiter(rate.Limit(float64(perMinute-full+1)/60), full)
}

// Stats counts documents. Total is Enriched and Unenriched together; Failed are those of the unenriched whose last attempt
// failed.
type Stats struct {
	Total      int64 `json:"total"`
	Enriched   int64 `json:"enriched"`
	Unenriched int64 `json:"unenriched"`
	Failed     int64 `json:"failed"`
}

// ReadStats asks the database how far enrichment is.
func ReadStats(ctx context.Context, db Database) (Stats, error) {
	var rows []Stats
	err := db.Call(ctx, "enrichment_stats", nil, &rows)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("enrichment_stats returned %d rows", len(rows))
	}
	if err != nil {
		return Stats{}, fmt.Errorf("read the state of enrichment: %w", err)
	}
	return rows[0], nil
}

// Retry lets the documents whose last attempt failed be tried anew, at once, whatever they had used up.
func Retry(ctx context.Context, db Database) error {
	var retried int64
	if err := db.Call(ctx, "retry_enrichments", nil, &retried); err != nil {
		return fmt.Errorf("retry documents that failed: %w", err)
	}
	return nil
}
