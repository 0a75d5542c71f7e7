// Command server is tasklens: the service and its other verbs. Each verb has its own file; this one
// selects the verb.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"tasklens/internal/rescue"
)

// verbs are what the program does. An option -h of each lists its others.
var verbs = []struct {
	name, about string
	run         func(ctx context.Context, args []string) error
}{
	{"serve", "answer HTTP requests and embed edits (settings: docs/settings.md)", serve},
	{"worker", "embed edits and nothing else", work},
	{"import", "load and embed tickets or documents from JSON Lines (scripts/import)", importRows},
	{"backfill", "embed what has no chunks of the current model (scripts/backfill)", backfill},
	{"reembed", "embed everything again while search goes on (scripts/reembed)", reembedAll},
	{"enrich", "extract keywords, entities and a temporal class from documents (scripts/enrich)", enrichDocuments},
	{"check", "report what is missing or doubtful in the database; exit with 1 if there are errors (scripts/check)", checkInstallation},
	{"health", "exit with 0 if the service at HOST and PORT is alive, else with 1 (for containers)", checkHealth},
	{"version", "print version, revision and Go's version", printVersion},
}

// newFlags returns a verb's flags. arguments are those that follow them.
func newFlags(verb string, arguments ...string) *flag.FlagSet {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {
		flags.SetOutput(os.Stderr)
		fmt.Fprintln(os.Stderr, strings.Join(append([]string{"usage: tasklens", verb, "[OPTION…]"}, arguments...), " "))
		flags.PrintDefaults()
	}
	return flags
}

// parse reads a verb's options, and refuses more than most other arguments.
func parse(flags *flag.FlagSet, args []string, most int) error {
	usage := flags.Usage
	flags.Usage = func() {}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage()
		return err
	case err != nil:
		return fmt.Errorf("%w: %w (%s -h lists the options)", errUsage, err, flags.Name())
	case flags.NArg() > most:
		return fmt.Errorf("%w: %q is one too many", errUsage, flags.Arg(most))
	}
	return nil
}

// errUsage is returned by a verb for wrong arguments.
var errUsage = errors.New("wrong arguments")

// untilSignalled returns a context that the first SIGINT or SIGTERM cancels. A second signal ends
// the program at once; signal.NotifyContext could lose it while the first is handled.
func untilSignalled(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(1)
	}()
	return ctx, stop
}

func main() {
	rescue.Report(func(panicked any, stack []byte) { fmt.Fprintf(os.Stderr, "panic: %v\n%s\n", panicked, stack) })
	ctx, stop := untilSignalled(context.Background())
	defer stop()
	switch name, err := runVerb(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp): // it is printed
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// runVerb runs the verb that the first argument names.
func runVerb(ctx context.Context, args []string) (name string, err error) {
	for _, verb := range verbs {
		if len(args) > 0 && verb.name == args[0] {
			return "tasklens " + verb.name, verb.run(ctx, args[1:])
		}
	}
	fmt.Fprint(os.Stderr, "usage: tasklens VERB [OPTION…] (tasklens VERB -h lists the options)\n\n")
	for _, verb := range verbs {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", verb.name, verb.about)
	}
	return "tasklens", fmt.Errorf("%w: there is no verb %q", errUsage, strings.Join(args[:min(len(args), 1)], ""))
}
