package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"tasklens/internal/openai"
	"tasklens/scripts/lab/bench"
	"tasklens/scripts/lab/collection"
)

// benchConfig are the settings of this verb: a stack started by scripts/bench.
type benchConfig struct {
	Port        int    `env:"PORT"`
	DatabaseURL string `env:"DATABASE_URL"`
	ServiceURL  string `env:"SERVICE_URL"`
	// What is compared with: the program and the database of another checkout.
	OtherLab         string `env:"OTHER_LAB"`
	OtherDatabaseURL string `env:"OTHER_DATABASE_URL"`
	OpenAIBaseURL    string `env:"OPENAI_BASE_URL" envDefault:"https://api.openai.com/v1"`
	OpenAIKey        string `env:"OPENAI_API_KEY"`
	EmbeddingModel   string `env:"EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`

	EmbedDelay time.Duration `env:"MODEL_DELAY_EMBED"`
	ChatDelay  time.Duration `env:"MODEL_DELAY_CHAT"`
}

// benchOptions are the command-line options.
type benchOptions struct {
	chunks, queries int
	seconds, rate   float64
	parts           []string
	rest            []string
}

func readBenchOptions(args []string) (o benchOptions, err error) {
	flags := newFlags("bench")
	only := flags.String("only", strings.Join(bench.Parts, ","), "")
	flags.IntVar(&o.chunks, "chunks", 10_000, "")
	flags.IntVar(&o.queries, "queries", 300, "")
	flags.Float64Var(&o.seconds, "seconds", 15, "")
	flags.Float64Var(&o.rate, "rate", 20, "")
	if flags.Parse(args) != nil || o.chunks < 100 || o.queries < 10 || o.seconds <= 0 || o.rate <= 0 {
		return o, errUsage
	}
	o.parts, o.rest = strings.Split(*only, ","), flags.Args()
	for _, part := range o.parts {
		if !slices.Contains(bench.Parts, part) {
			return o, errUsage
		}
	}
	return o, nil
}

// measure is the verb bench.
func measure(ctx context.Context, args []string) error {
	var part string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		part, args = args[0], args[1:]
	}
	options, err := readBenchOptions(args)
	if err != nil {
		return err
	}
	config, err := env.ParseAs[benchConfig]()
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	switch {
	case part == "" && len(options.rest) == 0:
		return measureGenerated(ctx, config, options)
	case part == "turns" && len(options.rest) == 0:
		return measureTurns(ctx, config, options)
	case part == "against" && len(options.rest) == 0:
		return measureAgainst(ctx, config, options)
	case part == "fresh" && len(options.rest) == 0:
		return measureFresh(ctx, config, options)
	case part == "chart" && len(args) == 1:
		return draw(args[0], bench.Chart)
	case part == "soak" && len(options.rest) == 0:
		return soak(ctx, config, options)
	case part == "real" && len(options.rest) == 1:
		return measureReal(ctx, config, options)
	case part == "model" && len(args) == 0:
		return serveLoopback(ctx, config.Port, bench.NewModel(bench.Delays{Embed: config.EmbedDelay, Chat: config.ChatDelay}))
	}
	return errUsage
}

func progress(step string) { fmt.Fprintln(os.Stderr, step, "…") }

func measureGenerated(ctx context.Context, c benchConfig, o benchOptions) error {
	connection, err := bench.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	return bench.Run{
		Connection: connection, Collection: bench.WithChunks(o.chunks), Documents: benchDocuments,
		Service: bench.Endpoint{URL: c.ServiceURL}, Model: bench.Endpoint{URL: c.OpenAIBaseURL},
		Salt: int(time.Now().Unix()) << 30, Queries: o.queries, Clients: []int{1, 8, 32}, Lasting: time.Duration(o.seconds * float64(time.Second)), Delays: bench.Delays{Embed: c.EmbedDelay, Chat: c.ChatDelay},
		Parts: o.parts, Progress: progress,
	}.Do(ctx, os.Stdout)
}

// measureTurns times statements as measureAgainst asks.
func measureTurns(ctx context.Context, c benchConfig, o benchOptions) error {
	connection, err := bench.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	return bench.Run{Connection: connection, Collection: bench.WithChunks(o.chunks), Progress: progress}.Turns(ctx, os.Stdin, os.Stdout)
}

// measureAgainst compares the statements of this checkout with those of another one, each by its
// own program over its own database.
func measureAgainst(ctx context.Context, c benchConfig, o benchOptions) error {
	here, err := os.Executable()
	if err != nil {
		return err
	}
	arguments := []string{"bench", "turns", "--chunks", strconv.Itoa(o.chunks)}
	var sides [2]*bench.Program
	for i, one := range []struct{ program, database string }{{here, c.DatabaseURL}, {c.OtherLab, c.OtherDatabaseURL}} {
		sides[i], err = bench.StartProgram(ctx, one.program, arguments, []string{"DATABASE_URL=" + one.database}, os.Stderr)
		if err != nil {
			return err
		}
		defer sides[i].Close()
	}
	table, err := bench.Against(sides[0], sides[1], o.queries)
	if err != nil {
		return err
	}
	return table.Print(os.Stdout)
}

// benchDocuments is the number of documents, for any number of chunks.
const benchDocuments = 20_000

// freshTickets is the size of the database that is edited.
const freshTickets = 10_000

func measureFresh(ctx context.Context, c benchConfig, o benchOptions) error {
	return withFresh(ctx, c, o, bench.WithTickets(freshTickets), func(f bench.Fresh) error { return f.Do(ctx, os.Stdout) })
}

// soak fails if a bound is broken.
func soak(ctx context.Context, c benchConfig, o benchOptions) error {
	return withFresh(ctx, c, o, bench.WithChunks(o.chunks), func(f bench.Fresh) error {
		broken, err := f.Soak(ctx, os.Stdout, o.rate, o.queries)
		if err == nil && len(broken) > 0 {
			err = fmt.Errorf("bounds are broken:\n%s", strings.Join(broken, "\n"))
		}
		return err
	})
}

func withFresh(ctx context.Context, c benchConfig, o benchOptions, collection bench.Collection, do func(bench.Fresh) error) error {
	connection, err := bench.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	return do(bench.Fresh{
		Connection: connection, DatabaseURL: c.DatabaseURL, Collection: collection, Service: bench.Endpoint{URL: c.ServiceURL},
		Salt: int(time.Now().Unix()) << 30, Lasting: time.Duration(o.seconds * float64(time.Second)),
		Delays: bench.Delays{Embed: c.EmbedDelay, Chat: c.ChatDelay}, Progress: progress,
	})
}

// measureReal measures on an imported collection, with its own queries.
func measureReal(ctx context.Context, c benchConfig, o benchOptions) error {
	queries, err := collection.Read(o.rest[0])
	if err != nil {
		return err
	}
	connection, err := bench.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	var judged []bench.Judged
	for _, q := range queries[:min(len(queries), o.queries)] {
		judged = append(judged, bench.Judged{Text: q.Text, Relevant: q.Judged})
	}
	model := openai.New(openai.Config{BaseURL: c.OpenAIBaseURL, APIKey: c.OpenAIKey, EmbeddingModel: c.EmbeddingModel, AttemptTimeout: time.Minute, MaxRetries: 2})
	return bench.Real{Connection: connection, Model: model, Queries: judged, Progress: progress}.Do(ctx, os.Stdout)
}
