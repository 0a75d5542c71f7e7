package main

import (
	"context"
	"time"

	"tasklens/internal/index"
	"tasklens/internal/rescue"
	"tasklens/internal/tokenizer"
	"tasklens/internal/worker"
)

// work embeds edits until the context ends. Any number of instances may run, also beside services.
func work(ctx context.Context, args []string) error {
	if err := parse(newFlags("worker"), args, 0); err != nil {
		return err
	}
	p, err := startProcess(ctx)
	if err != nil {
		return err
	}
	stopMetrics, err := p.serveMetrics()
	if err != nil {
		return err
	}
	defer stopMetrics()
	p.log.Info("working", "concurrency", p.WorkerConcurrency)
	p.runWorker(ctx, index.New(p.model, tokenizer.Load()))
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.DrainTimeout)
	defer cancel()
	p.close(drain)
	p.log.Info("stopped")
	return nil
}

// runWorker runs a worker, once the database has all migrations, until the context ends and it has
// released its jobs, within the shutdown time. Jobs that it still holds then are free when their
// lease expires.
func (p *process) runWorker(ctx context.Context, indexer *index.Indexer) {
	ended := make(chan struct{})
	rescue.Go(func() {
		defer close(ended)
		if p.awaitSchema(ctx) == nil {
			options := worker.Options{Concurrency: p.WorkerConcurrency, Warn: p.warnContext, Watch: p.observer.Batch}
			worker.New(p.database.AsService(), indexer, options).Run(ctx)
		}
	})
	<-ctx.Done()
	select {
	case <-ended:
	case <-time.After(p.DrainTimeout):
		p.log.Warn("stopped with jobs that are free when their lease is over")
	}
}
