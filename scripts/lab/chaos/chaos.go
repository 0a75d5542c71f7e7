// Package chaos sends requests to a running service while its dependencies fail. It checks that
// responses are documented ones, that no write is lost, and that everything recovers without a
// restart. scripts/chaos decides what fails and when; this package owns the clients, the edits and
// the failing model.
package chaos

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"tasklens/internal/wait"
)

// Run is one fault run against one service.
type Run struct {
	Service     string // host:port or URL
	DatabaseURL string // for editing tickets
	Model       *Model // used by the service
	Clients     int    // concurrent clients
	// Recovery is how long the service may take to answer normally after a fault.
	Recovery time.Duration
}

// phase is what was observed between two commands.
type phase struct {
	name      string
	began     time.Time
	outcomes  map[string]int // by status, or how else a request ended
	slowest   time.Duration
	wrong     []string // the first few forbidden outcomes
	wrongs    int
	recovered string
}

// maxTold limits how many errors of a phase are reported.
const maxTold = 5

func (p *phase) add(outcome string, took time.Duration, wrong string) {
	p.outcomes[outcome]++
	p.slowest = max(p.slowest, took)
	if wrong != "" {
		p.wrongs++
		if len(p.wrong) < maxTold {
			p.wrong = append(p.wrong, wrong)
		}
	}
}

// record is shared by all clients.
type record struct {
	mu     sync.Mutex
	phases []*phase
}

func (r *record) begin(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases = append(r.phases, &phase{name: name, began: time.Now(), outcomes: map[string]int{}})
}

func (r *record) add(outcome string, took time.Duration, wrong string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases[len(r.phases)-1].add(outcome, took, wrong)
}

// Do reads commands, replies "ok" to each when it is done, and then prints a table. It fails if a
// response was invalid, an edit was lost, or something did not recover.
//
//	phase NAME   start a phase of the report
//	model MODE   fail the model in this way from now on (see Model)
//	flood N      hold N idle connections
//	calm         wait until every kind of request succeeds again
func (r Run) Do(ctx context.Context, words io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	editor, err := newEditor(ctx, r.DatabaseURL)
	if err != nil {
		return err
	}
	var record record
	record.begin("beginning")
	var busy sync.WaitGroup
	// The clients stop before the edits are checked, and also on an error.
	asking, leave := context.WithCancel(ctx)
	defer func() { leave(); busy.Wait() }()
	if err := r.calm(ctx, &record); err != nil {
		return fmt.Errorf("before anything has failed: %w", err)
	}
	before, err := r.size(ctx)
	if err != nil {
		return err
	}
	for i := range r.Clients {
		busy.Go(func() { client{r.Service, &record, i}.ask(asking) })
	}
	busy.Go(func() { stubborn(asking, r.Service) })
	busy.Go(func() { editor.edit(asking) })

	flooding := flood{service: r.Service}
	defer flooding.close()
	lines := bufio.NewScanner(words)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "phase":
			record.begin(rest)
		case "model":
			err = r.Model.Fail(rest)
		case "flood":
			err = flooding.hold(ctx, rest)
		case "calm":
			err = r.calm(ctx, &record)
		default:
			err = fmt.Errorf("unknown command %q", word)
		}
		if err != nil {
			record.print(out)
			return err
		}
		if _, err := fmt.Fprintln(out, "ok"); err != nil {
			return err
		}
	}
	leave()
	busy.Wait()
	lost, err := editor.check(ctx, r.Service, r.Recovery)
	record.print(out)
	if err != nil {
		return err
	}
	after, err := r.settle(ctx, before)
	fmt.Fprintf(out, "\n%d edits; the last edits of all %d tickets are found. Before and after: %s; %s.\n", editor.edits, len(editor.last), before, after)
	if err != nil {
		return err
	}
	for _, p := range record.phases {
		if p.wrongs > 0 {
			lost = append(lost, fmt.Sprintf("%s: %d forbidden responses, such as %s", p.name, p.wrongs, strings.Join(p.wrong, " | ")))
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%s", strings.Join(lost, "\n"))
	}
	return nil
}

// calm waits until every kind of request succeeds three times in a row.
func (r Run) calm(ctx context.Context, record *record) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.Recovery)
	defer cancel()
	well, last := 0, ""
	for well < 3*len(kinds) {
		i := well % len(kinds)
		outcome, wrong := kinds[i].ask(ctx, r.Service, int(time.Now().UnixNano()))
		if wrong == "" && outcome == "200" {
			well++
			continue
		}
		well, last = 0, kinds[i].name+": "+outcome+" "+wrong
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("not recovered within %v; last %s", r.Recovery, last)
		}
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	record.phases[len(record.phases)-1].recovered = fmt.Sprintf("%.1f s", time.Since(began).Seconds())
	return nil
}

// print writes one row per phase.
func (r *record) print(out io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(out, "\n| phase | requests | answered | successful | slowest, s | forbidden | recovered after |\n|:--|--:|:--|--:|--:|--:|--:|\n")
	for _, p := range r.phases {
		total := 0
		for _, n := range p.outcomes {
			total += n
		}
		fmt.Fprintf(out, "| %s | %d | %s | %d | %.1f | %d | %s |\n", p.name, total, counted(p.outcomes), p.outcomes["200"], p.slowest.Seconds(), p.wrongs, p.recovered)
		for _, wrong := range p.wrong {
			fmt.Fprintf(out, "|   | | %s | | | | |\n", wrong)
		}
	}
}
