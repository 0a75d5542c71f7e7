package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
	"tasklens/internal/rescue"
	"tasklens/server/api"
	"tasklens/server/observe"
)

// process is what every process that runs on has: its settings, and clients that are observed.
type process struct {
	Config
	log      *slog.Logger
	observer *observe.Observer
	model    *openai.Client
	database *postgrest.Client
}

// startProcess reads the settings and starts to observe.
func startProcess(ctx context.Context) (*process, error) {
	config, err := readConfig()
	if err != nil {
		return nil, err
	}
	p := &process{Config: config, log: newLogger(config), observer: observe.New()}
	rescue.Report(func(panicked any, stack []byte) { p.log.Error("panic", "panic", panicked, "stack", string(stack)) })
	if config.OTelEndpoint != "" {
		if err := p.observer.Export(ctx, p.warn); err != nil {
			return nil, err
		}
	}
	settings := modelConfig(config)
	settings.Watch, settings.Around, settings.Notice = p.observer.Model, p.observer.Carry, p.log.Info
	p.model = openai.New(settings)
	p.database = postgrest.New(config.RESTURL, config.key(), config.Schema, p.observer.RPC)
	p.observer.Circuits(p.model)
	p.observer.Queue(p.database.AsService(), config.storedModel())
	return p, nil
}

// newLogger logs to standard error, so that the output of verbs can be piped.
func newLogger(c Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel))
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(api.WithRequest(slog.NewJSONHandler(os.Stderr, options)))
	}
	return slog.New(api.WithRequest(slog.NewTextHandler(os.Stderr, options)))
}

func (p *process) warn(message string, err error) { p.log.Warn(message, "error", err) }

func (p *process) warnContext(ctx context.Context, message string, err error) {
	p.log.WarnContext(ctx, message, "error", err)
}

// lost returns a function that counts and logs lost records of a kind.
func (p *process) lost(kind, message string) querylog.Warn {
	return func(lost int64, cause error) {
		p.observer.Lost(kind, lost)
		p.log.Warn(message, "lost", lost, "error", cause)
	}
}

// close exports the remaining spans until the context ends.
func (p *process) close(ctx context.Context) {
	if err := p.observer.Close(ctx); err != nil {
		p.warn("traces are incomplete", err)
	}
}

// scrapeTimeout bounds a request on the metrics port.
const scrapeTimeout = 20 * time.Second

// serveMetrics serves the metrics on the port that the settings name, if any. stop stops it.
func (p *process) serveMetrics() (stop func(), err error) {
	if p.MetricsAddress == "" || p.MetricsAddress == metricsOff {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", p.MetricsAddress)
	if err != nil {
		return nil, fmt.Errorf("listen for the metrics: %w", err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", p.observer.Handler())
	server := &http.Server{Handler: routes, ReadTimeout: scrapeTimeout, WriteTimeout: 2 * scrapeTimeout, MaxHeaderBytes: 16 << 10}
	go func() { _ = server.Serve(listener) }()
	p.log.Info("showing metrics", "address", listener.Addr().String())
	return func() { _ = server.Close() }, nil
}
