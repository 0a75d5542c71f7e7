package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/rpc"
	"tasklens/internal/tokenizer"
	"tasklens/internal/wait"
	"tasklens/internal/worker"
)

const (
	// statusInterval is how often progress is read.
	statusInterval = time.Second
	// databasePatience is how long the database may be unreachable, as in a restart.
	databasePatience = 15 * time.Second
)

// backfill embeds sources without chunks of the model: rows older than the triggers or than the
// model. It prints an estimate of the cost first and starts after confirmation.
func backfill(ctx context.Context, args []string) error {
	flags := newFlags("backfill")
	everything := flags.Bool("everything", false, "embed all again")
	price := flags.Float64("price", -1, "`dollars` a million tokens, where the model's are not known")
	yes := flags.Bool("yes", false, "embed; without it only estimate the cost")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	e, err := newEmbedding(ctx)
	if err != nil {
		return err
	}
	model := e.config.storedModel()
	wanted := map[string]any{"embedding_model": model, "everything": *everything}
	if err := e.estimate(ctx, wanted, false, *price); err != nil {
		return err
	}
	if !*yes {
		fmt.Println("Nothing was changed. With --yes it begins.")
		return nil
	}
	if err := e.tryModel(ctx); err != nil {
		return err
	}
	added, err := rpc.Value[int](ctx, e.db, "enqueue_missing_embeddings", wanted) // behind recent edits
	if err != nil {
		return err
	}
	fmt.Printf("%d sources were added to the queue.\n", added)
	return e.workOff(ctx, func(status worker.Status) (bool, error) {
		if left(status) > 0 {
			return false, nil
		}
		fmt.Printf("%d chunks are stored; %d sources have none.\n", status.Chunks, status.SourcesWithoutChunks)
		return true, givenUp(status)
	})
}

// embedding holds what bulk embedding needs.
type embedding struct {
	config  Config
	model   *openai.Client
	indexer *index.Indexer
	db      *postgrest.Session
}

func newEmbedding(ctx context.Context) (e embedding, err error) {
	if e.config, err = readConfig(); err != nil {
		return e, err
	}
	e.model = newModel(e.config)
	e.db = newDatabase(e.config).AsService()
	e.indexer = index.New(e.model, tokenizer.Load())
	return e, requireSchema(ctx, e.db)
}

// tryModel asks the model for one embedding, and names the setting to check where it has none. A
// rate limit is waited for as later ones are.
func (e embedding) tryModel(ctx context.Context) error {
	for started := time.Now(); ; {
		_, _, err := e.model.Embed(ctx, e.config.storedModel(), []string{"tasklens"})
		limited, is := errors.AsType[*fault.Error](err)
		if is && limited.Code == fault.Unavailable && time.Since(started)+limited.RetryAfter < embedPatience && wait.For(ctx, limited.RetryAfter) == nil {
			continue
		}
		switch address, unread := url.Parse(e.config.OpenAIBaseURL); {
		case errors.Is(err, fault.ErrKey):
			return fmt.Errorf("the model's provider refuses OPENAI_API_KEY: %w", err)
		case err != nil && unread == nil:
			return fmt.Errorf("ask %s at OPENAI_BASE_URL, %s, for an embedding: %w", e.config.storedModel(), address.Redacted(), err)
		}
		return err
	}
}

// left is the number of sources still to embed.
func left(status worker.Status) int { return status.Pending + status.Running + status.Failed }

// givenUp returns an error that tells what to do about sources that could not be embedded, or nil.
func givenUp(status worker.Status) error {
	if status.Dead == 0 {
		return nil
	}
	return fmt.Errorf("%d sources failed permanently: list_dead_embedding_jobs() shows why, replay_embedding_jobs() retries them", status.Dead)
}

// sampled is the number of sources read to estimate the tokens of all.
const sampled = 100

// estimate prints what it costs to embed what measure_missing_embeddings finds, ignoring stored
// chunks with force: counted up to 100 sources, otherwise estimated from 100 random ones. price
// is in dollars per million tokens, negative if unknown.
func (e embedding) estimate(ctx context.Context, wanted map[string]any, force bool, price float64) error {
	arguments := maps.Clone(wanted)
	arguments["sample_count"] = sampled
	all, err := rpc.One[struct {
		Sources    int
		Characters int
		Sample     []int64
	}](ctx, e.db, "measure_missing_embeddings", arguments)
	if err != nil {
		return err
	}
	tokens, characters, err := e.indexer.Measure(ctx, e.db, all.Sample, force)
	if err != nil {
		return fmt.Errorf("measure what is missing: %w", err)
	}
	if all.Sources > len(all.Sample) && characters > 0 {
		tokens = int(float64(tokens) / float64(characters) * float64(all.Characters))
	}
	cost, model := " (--price DOLLARS-A-MILLION-TOKENS shows the cost).", e.config.storedModel()
	if known, is := openai.EmbeddingDollars[model]; is && price < 0 {
		price = known
	}
	if price >= 0 {
		cost = fmt.Sprintf(", about $%.2f at $%g a million tokens.", float64(tokens)/1e6*price, price)
	}
	fmt.Printf("%d sources to embed by %s, about %d tokens%s\n", all.Sources, model, tokens, cost)
	return nil
}

var errInterrupted = errors.New("interrupted: what was embedded stays, and the rest waits in the queue for whatever worker runs next")

// workOff works on the queue until done, called every statusInterval, returns true. It shows the
// progress. Workers elsewhere take part.
func (e embedding) workOff(ctx context.Context, done func(worker.Status) (bool, error)) error {
	bar := newProgress("embedding")
	var failure atomic.Pointer[error] // the last
	warn := func(_ context.Context, message string, err error) {
		err = fmt.Errorf("%s: %w", message, err)
		failure.Store(&err)
		bar.print("%v", err)
	}
	working, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		worker.New(e.db, e.indexer, worker.Options{Concurrency: e.config.WorkerConcurrency, Warn: warn}).Run(working)
	})
	defer running.Wait()
	defer stop()
	most, answered := 0, time.Now()
	for ; ctx.Err() == nil; _ = wait.For(ctx, statusInterval) {
		status, err := worker.ReadStatus(ctx, e.db, e.config.storedModel())
		if err != nil {
			if time.Since(answered) < databasePatience {
				continue
			}
			return err
		}
		answered = time.Now()
		most = max(most, left(status))
		bar.show(int64(most-left(status)), int64(most), int64(most-left(status)))
		if ended, err := done(status); (ended || err != nil) && ctx.Err() == nil {
			bar.finish()
			if last := failure.Load(); err != nil && last != nil {
				err = fmt.Errorf("%w: %w", err, *last)
			}
			return err
		}
	}
	return errInterrupted
}
