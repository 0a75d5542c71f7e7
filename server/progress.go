package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// progressInterval is the time between two lines of progress.
var progressInterval = 10 * time.Second

// progress shows on standard error how far a verb is: as lines, or on a terminal as one that
// changes.
type progress struct {
	what           string
	interval       time.Duration
	clear, end     string // what begins and ends a line of progress
	began, printed time.Time
}

func newProgress(what string) *progress {
	p := &progress{what: what, interval: progressInterval, end: "\n", began: time.Now(), printed: time.Now()}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.interval, p.clear, p.end = 200*time.Millisecond, "\r\x1b[K", ""
	}
	return p
}

// show says that done of total, in any unit, are rows so far.
func (p *progress) show(done, total, rows int64) {
	if time.Since(p.printed) < p.interval || total <= 0 {
		return
	}
	p.printed = time.Now()
	left := "unknown time"
	if done > 0 {
		left = time.Duration(float64(time.Since(p.began)) * float64(total-done) / float64(done)).Round(time.Second).String()
	}
	fmt.Fprintf(os.Stderr, "%s%s: %d rows, %d%%, %s left%s", p.clear, p.what, rows, 100*done/total, left, p.end)
}

// print writes a line of its own.
func (p *progress) print(format string, args ...any) {
	fmt.Fprintf(os.Stderr, p.clear+format+"\n", args...)
}

func (p *progress) finish() { fmt.Fprint(os.Stderr, p.clear) }
