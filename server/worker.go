package main

import "context"

// work embeds what was edited until the context ends. Any number of copies may run, and beside services as well.
func work(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	log := newLogger(config)
	indexer, err := newIndexer(newModel(config))
	if err != nil {
		return err
	}
	log.Info("working", "concurrency", config.WorkerConcurrency)
	newWorker(config, indexer, log).Run(ctx)
	log.Info("stopped")
	return nil
}
