package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"tasklens/internal/load"
	"tasklens/internal/notefile"
	"tasklens/internal/openai"
	"tasklens/internal/ticketfile"
	"tasklens/internal/vector"
)

// maxTold is how many bad rows, and how many bad fields, are told one by one.
const maxTold = 50

// importFiles loads a folder or a file and indexes what it held. Bad rows and fields are told with their lines; they
// make the program end with an error only when nothing else was there.
func importFiles(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	if notefile.Is(args[0]) {
		return importNotes(ctx, config, args[0])
	}
	rows, err := ticketfile.Open(args[0])
	if err != nil {
		return err
	}
	indexer, err := newIndexer(namedModel{newModel(config), config})
	if err != nil {
		return err
	}
	started := time.Now()
	_, size := rows.Progress()
	bar := newBar(size, "importing", true)
	told := teller(func() { _ = bar.Clear() })
	summary, err := load.Load(ctx, newDatabase(config).AsService(), indexer, rows, load.Report{
		BadRow:   told("left out"),
		BadField: told("warning"),
		Indexed: func(int) {
			done, _ := rows.Progress()
			_ = bar.Set64(done)
		},
	})
	_ = bar.Finish()
	if more := summary.BadRows - maxTold; more > 0 {
		fmt.Fprintf(os.Stderr, "left out: %d more rows\n", more)
	}
	if more := summary.BadFields - maxTold; more > 0 {
		fmt.Fprintf(os.Stderr, "warning: %d more fields are left out\n", more)
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: what was written stays, and the next import goes on from there")
	case err != nil:
		return err
	case summary.Projects+summary.Tickets == 0 && summary.BadRows > 0:
		return fmt.Errorf("nothing was imported: none of %d rows is good", summary.BadRows)
	}
	fmt.Printf("%d projects and %d tickets in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d rows, %d fields; %.1f s\n",
		summary.Projects, summary.Tickets, summary.Chunks, summary.Embedded, summary.Tokens, summary.Reused, summary.BadRows, summary.BadFields,
		time.Since(started).Seconds())
	return nil
}

// teller makes functions that print what was left out, the first maxTold each, after making way on the terminal.
func teller(makeWay func()) func(kind string) func(*ticketfile.RowError) {
	var mutex sync.Mutex
	return func(kind string) func(*ticketfile.RowError) {
		told := 0
		return func(bad *ticketfile.RowError) {
			mutex.Lock()
			defer mutex.Unlock()
			if told++; told <= maxTold {
				makeWay()
				fmt.Fprintf(os.Stderr, "%s: %v\n", kind, bad)
			}
		}
	}
}

// namedModel says in its errors which settings they come from.
type namedModel struct {
	*openai.Client
	config Config
}

func (m namedModel) Embed(ctx context.Context, inputs []string) ([]vector.Vector, int, error) {
	vectors, tokens, err := m.Client.Embed(ctx, inputs)
	switch {
	case errors.Is(err, openai.ErrKey):
		err = fmt.Errorf("the model's provider refuses OPENAI_API_KEY: %w", err)
	case err != nil:
		err = fmt.Errorf("ask the model at OPENAI_BASE_URL, %s: %w", withoutPassword(m.config.OpenAIBaseURL), err)
	}
	return vectors, tokens, err
}

func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Redacted()
}
