package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"syscall"

	"tasklens/internal/identity"
	"tasklens/internal/reembed"
	"tasklens/internal/rescue"
	"tasklens/internal/search"
	"tasklens/server/api"
	"tasklens/supabase"
)

// serve answers HTTP requests and runs a worker until the context ends. Then it completes the
// requests in progress.
func serve(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	config, err := readConfig()
	if err != nil {
		return err
	}
	observing, err := newObserver(ctx, config)
	if err != nil {
		return err
	}
	log, model, database := observing.log, observing.newModel(config), observing.newDatabase(config)
	connections, err := boundConnections(log)
	if err != nil {
		return err
	}
	remembered, err := newMemory(config, model, observing)
	if err != nil {
		return err
	}
	defer func() { _ = remembered.close() }()
	indexer, err := newIndexer(model)
	if err != nil {
		return err
	}
	comparer, err := newComparer(model)
	if err != nil {
		return err
	}
	answerer, err := newAnswerer(config, model)
	if err != nil {
		return err
	}
	limits, closeLimits, err := newLimits(config, connections, log)
	if err != nil {
		return err
	}
	defer func() { _ = closeLimits() }()
	observing.watchQueue(database.AsService(), config.storedModel())
	queryLog := newQueryLog(config, database, observing)
	tracker := newTracker(database, observing)
	page, err := newConsole(config)
	if err != nil {
		return err
	}
	app, err := api.New(api.Parts{
		Database: database,
		Indexer:  indexer,
		Searcher: search.New(search.Weights{Vector: config.VectorWeight, Keyword: config.KeywordWeight},
			func(ctx context.Context, message string, err error) {
				log.WarnContext(ctx, message, "error", err)
			}),
		Comparer:       comparer,
		Answerer:       answerer,
		Enricher:       newEnricher(config, model, 0, func(message string, err error) { log.Warn(message, "error", err) }),
		Tracker:        tracker,
		QueryLog:       queryLog,
		Memo:           remembered.results,
		Embeddings:     remembered.embeddings,
		Verifier:       newVerifier(config),
		Limits:         limits,
		Migrations:     supabase.Migrations(),
		Log:            log,
		Metrics:        observing.metrics,
		MetricsHere:    config.metricsHere(),
		Tracer:         observing.tracer,
		Console:        page,
		Missing:        []api.Missing{missingModel(model)},
		EmbeddingModel: config.storedModel(),
		Serving:        reembed.NewServing(database.AsService(), config.storedModel()),
		MatchThreshold: config.MatchThreshold,
		Fusion:         config.Fusion,
		RequestTimeout: config.RequestTimeout,
		PublicURL:      config.PublicURL,
		Issuer:         identity.IssuerOf(config.SupabaseURL),
		Version:        moduleVersion(),
	})
	if err != nil {
		return err
	}
	stopMetrics, err := observing.serveMetrics(config)
	if err != nil {
		return err
	}
	defer stopMetrics()
	listener, err := net.Listen("tcp", net.JoinHostPort(config.Host, strconv.Itoa(config.Port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	log.Info("listening", "address", listener.Addr().String())
	if config.Worker == "on" {
		// The worker stops with the context too, while requests complete.
		var working sync.WaitGroup
		working.Go(func() { runWorker(ctx, config, newWorker(config, database.AsService(), indexer, observing), log) })
		defer working.Wait()
	}
	if config.MatchThreshold == nil {
		rescue.Go(func() { keepThresholds(ctx, database.AsService(), model, config.storedModel(), log) })
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	select {
	case err := <-served:
		stop()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping", "drain", config.DrainTimeout)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), config.DrainTimeout)
	defer cancel()
	// After the requests, which still record spans, in the time that is left.
	defer observing.close(drain)
	defer queryLog.Close(drain)
	defer tracker.Close(drain)
	if err := app.Shutdown(config.DrainTimeout); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop: %w", err)
	} else if err != nil {
		log.Warn("stopped with requests under way", slog.Duration("drain", config.DrainTimeout))
	}
	return nil
}

// maxConnections bounds the memory that connections take, about 50 kB each.
const maxConnections = 2048

// boundConnections returns how many connections are served. Half of the process's file descriptors
// are for what requests open: connections to PostgREST, the model and Redis. Go has already raised
// the soft limit to the hard one.
func boundConnections(log *slog.Logger) (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of file descriptors: %w", err)
	}
	within := int(min(limit.Cur/2, maxConnections))
	if within < maxConnections {
		log.Warn("fewer connections than usual are served: raise the limit of file descriptors (ulimit -n, LimitNOFILE)",
			"limit", limit.Cur, "usual", maxConnections, "served", within)
	}
	return within, nil
}
