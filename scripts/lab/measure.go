package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tasklens/scripts/lab/bench"
)

// benchRun is a run of the verb bench, over a stack that scripts/bench started.
type benchRun struct {
	settings
	chunks, queries int
	seconds, rate   float64
	parts           []string
	path, index     string
	repeat          bool
}

func readBench(s settings, args []string) (benchRun, error) {
	r := benchRun{settings: s}
	flags := newFlags("bench")
	only := flags.String("only", strings.Join(bench.Parts, ","), "")
	flags.IntVar(&r.chunks, "chunks", 10_000, "")
	flags.IntVar(&r.queries, "queries", 300, "")
	flags.Float64Var(&r.seconds, "seconds", 15, "")
	flags.Float64Var(&r.rate, "rate", 20, "")
	flags.StringVar(&r.path, "path", "/api/hybrid-search", "")
	flags.StringVar(&r.index, "index", "", "")
	flags.BoolVar(&r.repeat, "repeat", false, "")
	if flags.Parse(args) != nil || flags.NArg() > 0 || r.chunks < 100 || r.queries < 10 || r.seconds <= 0 || r.rate <= 0 {
		return r, errUsage
	}
	if _, known := bench.Indexes[r.index]; !known && r.index != "" {
		return r, errUsage
	}
	r.parts = strings.FieldsFunc(*only, func(c rune) bool { return c == ',' })
	for _, part := range r.parts {
		if !slices.Contains(bench.Parts, part) {
			return r, errUsage
		}
	}
	return r, nil
}

// measure is the verb bench.
func measure(ctx context.Context, s settings, args []string) error {
	do := benchRun.measureGenerated
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		do = map[string]func(benchRun, context.Context) error{
			"against": benchRun.against, "requests": benchRun.requests, "soak": benchRun.soak, "model": benchRun.model,
		}[args[0]]
		args = args[1:]
	}
	if do == nil {
		return errUsage
	}
	r, err := readBench(s, args)
	if err != nil {
		return err
	}
	return do(r, ctx)
}

func progress(step string) { fmt.Fprintln(os.Stderr, step, "…") }

// salt returns a number that makes every query of this run new.
func salt() int { return int(time.Now().Unix()) << 30 }

// generated connects to the database that holds the generated collection, or will.
func (r benchRun) generated(ctx context.Context) (run bench.Run, end func(), err error) {
	connection, err := bench.Connect(ctx, r.DatabaseURL)
	if err != nil {
		return run, nil, err
	}
	return bench.Run{Connection: connection, Collection: bench.WithChunks(r.chunks), Queries: r.queries, Parts: r.parts, Index: r.index, Progress: progress},
		func() { _ = connection.Close(context.WithoutCancel(ctx)) }, nil
}

func (r benchRun) measureGenerated(ctx context.Context) error {
	run, end, err := r.generated(ctx)
	if err != nil {
		return err
	}
	defer end()
	return run.Do(ctx, os.Stdout)
}

// against compares the statements with those of another checkout.
func (r benchRun) against(ctx context.Context) error {
	run, end, err := r.generated(ctx)
	if err != nil {
		return err
	}
	defer end()
	other, err := bench.Connect(ctx, r.OtherDatabaseURL)
	if err != nil {
		return err
	}
	defer other.Close(context.WithoutCancel(ctx))
	return run.Against(ctx, other, os.Stdout)
}

// requests prints what vegeta sends, until it has enough.
func (r benchRun) requests(ctx context.Context) error {
	return bench.Requests{
		Collection: bench.WithChunks(r.chunks), Service: r.ServiceURL, Path: r.path, Salt: salt(), Repeat: r.repeat,
	}.Print(ctx, os.Stdout)
}

// soak fails if a bound is broken.
func (r benchRun) soak(ctx context.Context) error {
	run, end, err := r.generated(ctx)
	if err != nil {
		return err
	}
	defer end()
	load := &bench.Soak{
		Connection: run.Connection, DatabaseURL: r.DatabaseURL, Collection: run.Collection, Service: r.ServiceURL,
		Salt: salt(), Lasting: time.Duration(r.seconds * float64(time.Second)), Rate: r.rate, Queries: r.queries, Progress: progress,
	}
	broken, err := load.Do(ctx, os.Stdout)
	if err == nil && len(broken) > 0 {
		err = errors.New("bounds are broken:\n" + strings.Join(broken, "\n"))
	}
	return err
}

// model serves the model of the generated collection.
func (r benchRun) model(ctx context.Context) error {
	return serveLoopback(ctx, r.Port, bench.NewModel(bench.Delays{Embed: r.EmbedDelay, Chat: r.ChatDelay}))
}
