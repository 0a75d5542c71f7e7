package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressInterval is the time between two lines of progress.
var progressInterval = 10 * time.Second

// progress shows on standard error how far a verb is: as a bar on a terminal, as lines elsewhere.
type progress struct {
	what           string
	bar            *progressbar.ProgressBar // nil if there is no terminal
	began, printed time.Time
}

func newProgress(what string) *progress {
	p := &progress{what: what, began: time.Now(), printed: time.Now()}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(what),
			progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	}
	return p
}

// show says that done of total, in any unit, are rows so far.
func (p *progress) show(done, total, rows int64) {
	if p.bar != nil {
		p.bar.ChangeMax64(total)
		_ = p.bar.Set64(done)
		p.bar.Describe(fmt.Sprintf("%s: %d rows", p.what, rows)) // draws it
		return
	}
	if time.Since(p.printed) < progressInterval || total <= 0 {
		return
	}
	p.printed = time.Now()
	left := "unknown time"
	if done > 0 {
		left = time.Duration(float64(time.Since(p.began)) * float64(total-done) / float64(done)).Round(time.Second).String()
	}
	fmt.Fprintf(os.Stderr, "%s: %d rows, %d%%, %s left\n", p.what, rows, 100*done/total, left)
}

// print writes a line of its own.
func (p *progress) print(format string, args ...any) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
