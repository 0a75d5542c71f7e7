package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"tasklens/internal/worker"
)

// statusInterval is how often a backfill looks how far it is.
const statusInterval = time.Second

// dollars a million tokens of a model whose price was known when this was written.
var dollars = map[string]float64{"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13}

// backfill embeds what has no chunks of the model: rows that are older than the triggers, or than the model. It says
// first what that costs, and begins when it is told to.
func backfill(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("backfill", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	everything := flags.Bool("everything", false, "")
	price := flags.Float64("price", -1, "")
	yes := flags.Bool("yes", false, "")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	indexer, err := newIndexer(namedModel{newModel(config), config})
	if err != nil {
		return err
	}
	db := newDatabase(config).AsService()
	missing, err := worker.MeasureMissing(ctx, db, indexer, config.storedModel(), *everything)
	if err != nil {
		return err
	}
	if known, is := dollars[config.EmbeddingModel]; is && *price < 0 {
		*price = known
	}
	fmt.Println(estimate(missing, config.EmbeddingModel, *price))
	if !*yes {
		fmt.Println("Nothing was changed. With --yes it begins.")
		return nil
	}
	added, err := worker.EnqueueMissing(ctx, db, config.storedModel(), *everything)
	if err != nil {
		return err
	}
	fmt.Printf("%d sources were added to the queue.\n", added)
	return workOff(ctx, config, indexer, db)
}

// estimate says what a backfill costs; price is in dollars a million tokens, below 0 where nobody knows.
func estimate(missing worker.Missing, model string, price float64) string {
	text := fmt.Sprintf("%d sources to embed by %s, about %d tokens", missing.Sources, model, missing.Tokens)
	if price >= 0 {
		return text + fmt.Sprintf(", about $%.2f at $%g a million tokens.", float64(missing.Tokens)/1e6*price, price)
	}
	return text + " (--price DOLLARS-A-MILLION-TOKENS shows the cost)."
}

// workOff works until the queue is empty, and shows how far it is. Workers that run elsewhere help.
func workOff(ctx context.Context, config Config, indexer worker.Indexer, db worker.Database) error {
	working, stop := context.WithCancel(ctx)
	var mutex sync.Mutex // of the terminal
	var bar *progressbar.ProgressBar
	var running sync.WaitGroup
	running.Go(func() {
		worker.New(db, indexer, workerOptions(config, func(message string, err error) {
			mutex.Lock()
			defer mutex.Unlock()
			if bar != nil {
				_ = bar.Clear()
			}
			fmt.Fprintf(os.Stderr, "%s: %v\n", message, err)
		})).Run(working)
	})
	defer running.Wait()
	defer stop()
	ticker := time.NewTicker(statusInterval)
	defer ticker.Stop()
	most := 0
	for {
		status, err := worker.ReadStatus(ctx, db, config.storedModel())
		if ctx.Err() != nil {
			return errors.New("interrupted: what was embedded stays, and the rest waits in the queue for whatever worker runs next")
		}
		if err != nil {
			return err
		}
		left := status.Pending + status.Running + status.Failed
		mutex.Lock()
		if bar == nil || left > most {
			most = left
			bar = newBar(int64(most), "embedding", false)
		}
		_ = bar.Set(most - left)
		mutex.Unlock()
		if left == 0 {
			_ = bar.Finish()
			fmt.Printf("%d chunks are stored; %d sources have none.\n", status.Chunks, status.SourcesWithoutChunks)
			if status.Dead > 0 {
				return fmt.Errorf("%d sources were given up: list_dead_embedding_jobs() tells why, replay_embedding_jobs() tries them anew", status.Dead)
			}
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// newBar is a progress bar on standard error.
func newBar(size int64, what string, bytes bool) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(bytes),
		progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
		// In a log every step of it would be a line.
		progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd()))))
}
