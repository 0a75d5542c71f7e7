// Command lab contains the development tools of tasklens: stand-ins for Supabase and OpenAI, and
// the measurements. None of it is linked into the service. Each verb has its own file; this one
// dispatches.
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

	"github.com/caarlos0/env/v11"
)

const usage = `usage: lab VERB

Where there is no Supabase and no OpenAI:

  gateway        answer as PostgREST does, over DATABASE_URL
  model          answer as OpenAI does, offline
  token ROLE [USER-ID]
                 print an access token for a role, or a user's for an hour, signed with JWT_SECRET

Checking and measuring:

  examples       run the examples of the documentation against the demo at SERVICE_URL (scripts/check-stack docs)

  check-model [--estimate | --most DURATION] PATH
                 measure how well the model of a running service fits by a collection with questions (scripts/check-model)
  check-server COMMAND…
                 start a real model server and try the edges of its protocol (scripts/check-servers)
  eval [--documents | --questions] PATH
                 measure the rankings, answers and document searches of a running service by a collection with judgements
                 or questions; only the document searches; or questions about fields (scripts/eval)
  eval --compare OLD NEW
                 compare two results of it
  bench [--chunks N] [--only sql,recall] [--queries N]
                 measure speed and recall on generated tickets (scripts/bench)
  bench against | soak [--seconds N] [--rate N] | requests [--path PATH] [--repeat] | model
                 compare statements with those of another checkout; the load of an hour; print requests
                 for vegeta; answer as the model of the generated tickets
  chaos          ask a service while its surroundings fail, as standard input says (scripts/chaos)
`

var verbs = map[string]func(ctx context.Context, s settings, args []string) error{
	"check-model":  checkModel,
	"check-server": checkServer,
	"gateway":      serveGateway,
	"model":        serveModel,
	"token":        printToken,
	"examples":     tryExamples,
	"eval":         evaluate,
	"bench":        measure,
	"chaos":        disturb,
}

// errUsage is returned for wrong arguments.
var errUsage = errors.New("wrong arguments")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	s, err := env.ParseAs[settings]()
	if err == nil {
		err = verbs[os.Args[1]](ctx, s, os.Args[2:])
	}
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "lab %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// newFlags returns a verb's flags. Errors are reported by printing the usage.
func newFlags(verb string) *flag.FlagSet {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}
