package bench_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"tasklens/scripts/lab/bench"
)

// scripted is a side whose times are known: turn i of a statement takes its base plus i.
type scripted struct {
	statements map[string]float64
	names      []string
	asked      *[]string
	name       string
	turns      int
}

func (s *scripted) Turn() (turn []bench.Timing, err error) {
	*s.asked = append(*s.asked, s.name)
	for _, name := range s.names {
		turn = append(turn, bench.Timing{Statement: name, Milliseconds: s.statements[name] + float64(s.turns)})
	}
	s.turns++
	return turn, nil
}

func TestTwoCheckoutsAreTimedInTurn(t *testing.T) {
	t.Parallel()
	var asked []string
	here := &scripted{map[string]float64{"both": 100, "mine": 7}, []string{"both", "mine"}, &asked, "here", 0}
	there := &scripted{map[string]float64{"both": 50, "theirs": 3}, []string{"theirs", "both"}, &asked, "there", 0}
	table, err := bench.Against(here, there, 20)
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 44 || !slices.Equal(asked[:5], []string{"here", "there", "there", "here", "here"}) {
		t.Errorf("asked %q", asked)
	}
	// Turns 2 to 21 count.
	want := [][]string{
		{"both", "111.5", "61.5", "1.81", "1.76–1.87", "120.0", "70.0", "1.71"},
		{"mine", "18.5", "–", "–", "–", "27.1", "–", "–"},
		{"theirs", "–", "14.5", "–", "–", "–", "23.1", "–"},
	}
	if !slices.EqualFunc(table.Rows, want, func(a, b []string) bool { return slices.Equal(a, b) }) {
		t.Errorf("rows %q, want %q", table.Rows, want)
	}
}

type failing struct{}

func (failing) Turn() ([]bench.Timing, error) { return nil, errors.New("gone") }

func TestAFailureNamesTheCheckout(t *testing.T) {
	t.Parallel()
	var asked []string
	here := &scripted{nil, nil, &asked, "here", 0}
	if _, err := bench.Against(here, failing{}, 10); err == nil || !strings.Contains(err.Error(), "the other checkout: gone") {
		t.Errorf("the error is %v", err)
	}
	if _, err := bench.Against(failing{}, here, 10); err == nil || !strings.Contains(err.Error(), "this checkout: gone") {
		t.Errorf("the error is %v", err)
	}
}

// A program answers each line with the times of all statements.
func TestAProgramAnswersTurns(t *testing.T) {
	t.Parallel()
	program, err := bench.StartProgram(t.Context(), "sh", []string{"-c", `while read -r line; do echo '[{"statement":"'$NAME'","ms":1.5}]'; done`}, []string{"NAME=one"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		turn, err := program.Turn()
		if err != nil || !slices.Equal(turn, []bench.Timing{{Statement: "one", Milliseconds: 1.5}}) {
			t.Errorf("%v, %v", turn, err)
		}
	}
	if err := program.Close(); err != nil {
		t.Error(err)
	}
}

// turnsOf reads what Turns wrote.
func turnsOf(t *testing.T, text string) (turns [][]bench.Timing) {
	t.Helper()
	for line := range strings.Lines(text) {
		var turn []bench.Timing
		if err := json.Unmarshal([]byte(line), &turn); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	return turns
}
