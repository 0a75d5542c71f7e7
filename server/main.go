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
	"syscall"

	"tasklens/internal/rescue"
)

const usage = `usage: tasklens VERB

  serve          answer HTTP requests and embed edits (settings: docs/settings.md)
  worker         embed edits and nothing else
  import [--origin NAME] [--prefix TEXT] [--text COLUMNS] [--labels COLUMNS] [--take-over] [--restricted keep|omit]
         [--prune [--prune-many]] PATH…
                 load and index projects and tickets from folders of JSON Lines or exports of Jira, Linear or GitHub,
                 or documents from a folder of Markdown files. --text and --labels name the columns to keep that are no
                 fields of a ticket. --origin names the export, if the files do not; keys that
                 are not of this origin are refused: --prefix goes before all keys of the files, --take-over changes them
                 nevertheless. --prune deletes what earlier imports of this origin loaded and this one does not contain,
                 up to a fifth of its tickets; --prune-many more (scripts/import)
  backfill [--everything] [--price DOLLARS] [--yes]
                 embed what has no chunks of the current model; without --yes only estimate the cost (scripts/backfill)
  reembed [--estimate] [--price DOLLARS] [--abandon]
                 embed everything again with EMBEDDING_MODEL and this program's chunking; search uses the old chunks until
                 it switches (scripts/reembed)
  enrich [--retry]
                 extract keywords, entities and a temporal class from new and changed documents; --retry includes failed
                 ones at once (scripts/enrich)
  check [--json] report what is missing or doubtful in the database; exit with 1 if there are errors (scripts/check)
  health         exit with 0 if the service at HOST and PORT is alive, else with 1 (for containers)
  version        print version, revision and Go's version
`

var verbs = map[string]func(ctx context.Context, args []string) error{
	"serve":    serve,
	"worker":   work,
	"import":   importFiles,
	"backfill": backfill,
	"reembed":  reembedAll,
	"enrich":   enrichDocuments,
	"check":    checkInstallation,
	"health":   checkHealth,
	"version":  printVersion,
}

// newFlags returns a verb's flags.
func newFlags(verb string) *flag.FlagSet {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// parse reads a verb's options, and refuses more than most other arguments.
func parse(flags *flag.FlagSet, args []string, most int) error {
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return errUsage
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case flags.NArg() > most:
		return fmt.Errorf("%w: %q is one too many", errUsage, flags.Arg(most))
	}
	return nil
}

// errUsage is returned by a verb for wrong arguments. Without a reason main prints the usage.
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
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	verb, known := verbs[os.Args[1]]
	err := errUsage
	if known {
		err = verb(ctx, os.Args[2:])
	}
	switch {
	case errors.Is(err, errUsage) && err != errUsage:
		fmt.Fprintf(os.Stderr, "tasklens %s: %v\n", os.Args[1], err)
		os.Exit(2)
	case err == errUsage:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "tasklens %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
