package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"

	"tasklens/internal/answer"
	"tasklens/internal/identity"
	"tasklens/internal/index"
	"tasklens/internal/querylog"
	"tasklens/internal/rescue"
	"tasklens/internal/search"
	"tasklens/internal/tokenizer"
	"tasklens/server/api"
	"tasklens/server/observe"
	"tasklens/supabase"
)

// serve answers HTTP requests and runs a worker until the context ends. Then it completes the
// requests in progress.
func serve(ctx context.Context, args []string) error {
	if err := parse(newFlags("serve"), args, 0); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p, err := startProcess(ctx)
	if err != nil {
		return err
	}
	parts, err := p.newParts()
	if err != nil {
		return err
	}
	app, err := api.New(parts)
	if err != nil {
		return err
	}
	stopMetrics, err := p.serveMetrics()
	if err != nil {
		return err
	}
	defer stopMetrics()
	listener, err := net.Listen("tcp", net.JoinHostPort(p.Host, strconv.Itoa(p.Port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	p.log.Info("listening", "address", listener.Addr().String())
	if p.Worker == "on" {
		// The worker stops with the context too, while requests complete.
		var working sync.WaitGroup
		working.Go(func() { p.runWorker(ctx, parts.Indexer) })
		defer working.Wait()
	}
	if p.MatchThreshold == nil {
		rescue.Go(func() { keepThresholds(ctx, p.database.AsService(), p.model, p.storedModel(), p.log) })
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	select {
	case err := <-served:
		stop()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	p.log.Info("stopping", "drain", p.DrainTimeout)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.DrainTimeout)
	defer cancel()
	// After the requests, which still record spans, in the time that is left.
	defer p.close(drain)
	defer parts.QueryLog.Close(drain)
	defer parts.Tracker.Close(drain)
	if err := app.Shutdown(p.DrainTimeout); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop: %w", err)
	} else if err != nil {
		p.log.Warn("stopped with requests under way", slog.Duration("drain", p.DrainTimeout))
	}
	return nil
}

// newParts returns the dependencies of the API.
func (p *process) newParts() (parts api.Parts, err error) {
	service, weights := p.database.AsService(), search.Weights{Vector: p.VectorWeight, Keyword: 1}
	parts = api.Parts{
		Database:       p.database,
		Indexer:        index.New(p.model, tokenizer.Load()),
		Searcher:       search.New(weights, p.warnContext),
		Comparer:       search.NewComparer(p.model, tokenizer.Load()),
		Answerer:       answer.New(p.model, answer.Options{Tokens: p.AnswerTokens}),
		Enricher:       newEnricher(p.Config, p.model, p.RequestTimeout, p.warnContext),
		Verifier:       newVerifier(p.Config),
		Migrations:     supabase.Migrations(),
		Log:            p.log,
		Observer:       p.observer,
		MetricsHere:    p.metricsHere(),
		OpenCircuits:   p.model.OpenCircuits,
		EmbeddingModel: p.storedModel(),
		MatchThreshold: p.MatchThreshold,
		Fusion:         p.Fusion,
		RequestTimeout: p.RequestTimeout,
		PublicURL:      p.PublicURL,
		Issuer:         identity.IssuerOf(p.SupabaseURL),
		Version:        version(),
	}
	parts.Memo, parts.Embeddings = p.newCache()
	if parts.Limits, err = p.newLimits(); err != nil {
		return parts, err
	}
	if parts.Console, err = newConsole(p.Config); err != nil {
		return parts, err
	}
	parts.QueryLog = p.newQueryLog()
	// It writes as the service, because callers may not.
	parts.Tracker = querylog.NewTracker(service, p.lost(observe.LostRetrievals, "searches for documents were not counted"))
	return parts, nil
}
