package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"

	"tasklens/scripts/lab/measure"
)

// Turns loads the collection if the database is empty. For every line that it reads it runs the
// next query in all statements, and answers with a line of JSON, an array of Timing. Two checkouts
// are compared over this protocol, so that each runs its own statements.
func (r Run) Turns(ctx context.Context, from io.Reader, to io.Writer) error {
	if err := Load(ctx, r.Connection, r.Collection, r.Progress); err != nil {
		return err
	}
	all, err := r.prepareStatements(ctx)
	if err != nil {
		return err
	}
	lines, answers := bufio.NewScanner(from), json.NewEncoder(to)
	for i := 0; lines.Scan(); i++ {
		turn, err := timeTurn(ctx, r.Connection, all, ask(r.Collection.Query(i)), i)
		if err != nil {
			return err
		}
		if err := answers.Encode(turn); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Side is one of two programs that are compared: it times its statements with its next query.
type Side interface {
	Turn() ([]Timing, error)
}

// Program is a Side in another process, which runs Turns.
type Program struct {
	process *exec.Cmd
	input   io.WriteCloser
	answers *json.Decoder
}

// StartProgram starts a program with some settings (NAME=value) added to this one's.
func StartProgram(ctx context.Context, path string, args, settings []string, stderr io.Writer) (*Program, error) {
	process := exec.CommandContext(ctx, path, args...)
	process.Env, process.Stderr = append(process.Environ(), settings...), stderr
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &Program{process, input, json.NewDecoder(output)}, nil
}

// Turn asks the program for a turn.
func (p *Program) Turn() (turn []Timing, err error) {
	if _, err := io.WriteString(p.input, "\n"); err != nil {
		return nil, err
	}
	err = p.answers.Decode(&turn)
	return turn, err
}

// Close ends the program and waits for it.
func (p *Program) Close() error {
	if err := p.input.Close(); err != nil {
		return err
	}
	return p.process.Wait()
}

// Against times the statements of two sides with the same queries, in turn, so that other load on
// the machine affects both alike. The first tenth of the queries warms up and does not count.
func Against(here, there Side, queries int) (Table, error) {
	sides := [2]Side{here, there}
	took := [2]timed{{}, {}}
	var order []string
	warmUp := queries / 10
	for i := range warmUp + queries {
		for k := range sides {
			side := (i + k) % 2 // who runs second finds the machine warmer
			turn, err := sides[side].Turn()
			if err != nil {
				return Table{}, fmt.Errorf("time %s: %w", [2]string{"this checkout", "the other checkout"}[side], err)
			}
			if i == 0 {
				for _, one := range turn {
					if took[0][one.Statement] == nil && took[1][one.Statement] == nil {
						order = append(order, one.Statement)
					}
					took[side][one.Statement] = []float64{}
				}
			}
			if i >= warmUp {
				took[side].add(turn)
			}
		}
	}
	table := Table{
		Title:  "Statements, ms, beside those of another checkout",
		Header: []string{"statement", "p50", "other", "ratio", "95%", "p95", "other", "ratio"},
		Caption: fmt.Sprintf("%d queries, in turn in both checkouts, after %d to warm up. The first ratio is the median of the ratios query by query, with its "+
			"confidence interval; the second is that of the two columns before it.", queries, warmUp),
	}
	for _, name := range order {
		table.Rows = append(table.Rows, append([]string{name}, beside(took[0][name], took[1][name])...))
	}
	return table, nil
}

// beside returns the cells of a statement: for the median and the 95th percentile the milliseconds
// here and there, and ratios. A statement that one side lacks has no figure there.
func beside(here, there []float64) []string {
	cells := []string{"–", "–", "–", "–", "–", "–", "–"}
	for i, values := range [][]float64{here, there} {
		if len(values) > 0 {
			cells[i], cells[4+i] = number(measure.Quantile(values, 0.5)), number(measure.Quantile(values, 0.95))
		}
	}
	if len(here) == 0 || len(there) == 0 {
		return cells
	}
	ratios := make([]float64, min(len(here), len(there)))
	for i := range ratios {
		ratios[i] = here[i] / there[i]
	}
	// The ranks between which a median lies (by the normal approximation of the binomial).
	reach := 0.98 / math.Sqrt(float64(len(ratios)))
	cells[2] = fmt.Sprintf("%.2f", measure.Quantile(ratios, 0.5))
	cells[3] = fmt.Sprintf("%.2f–%.2f", measure.Quantile(ratios, 0.5-reach), measure.Quantile(ratios, 0.5+reach))
	cells[6] = ratio(measure.Quantile(here, 0.95), measure.Quantile(there, 0.95))
	return cells
}
