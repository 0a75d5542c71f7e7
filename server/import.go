package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"tasklens/internal/load"
	"tasklens/internal/ticketfile"
)

// maxBadRows is how many bad rows are told one by one.
const maxBadRows = 50

// importFiles loads a folder or a file and indexes what it held. Bad rows are told with their lines and make the
// program end with an error only when nothing else was there.
func importFiles(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	rows, err := ticketfile.Open(args[0])
	if err != nil {
		return err
	}
	indexer, err := newIndexer(newModel(config))
	if err != nil {
		return err
	}
	started := time.Now()
	_, size := rows.Progress()
	bar := progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription("importing"), progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
		// In a log every step of it would be a line.
		progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd()))))
	var mutex sync.Mutex
	badRows := 0
	summary, err := load.Load(ctx, newDatabase(config).AsService(), indexer, rows, load.Report{
		BadRow: func(row *ticketfile.RowError) {
			mutex.Lock()
			defer mutex.Unlock()
			if badRows++; badRows <= maxBadRows {
				_ = bar.Clear()
				fmt.Fprintln(os.Stderr, "left out:", row)
			}
		},
		Indexed: func(int) {
			done, _ := rows.Progress()
			_ = bar.Set64(done)
		},
	})
	_ = bar.Finish()
	if badRows > maxBadRows {
		fmt.Fprintf(os.Stderr, "left out: %d more\n", badRows-maxBadRows)
	}
	fmt.Printf("%d projects and %d tickets in %d chunks; %d embedded (%d tokens), %d unchanged, %d rows left out; %.1f s\n",
		summary.Projects, summary.Tickets, summary.Chunks, summary.Embedded, summary.Tokens, summary.Reused, summary.BadRows,
		time.Since(started).Seconds())
	return err
}
