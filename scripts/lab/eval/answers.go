package eval

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Asked is a question about a collection. Its answer must cite one of the tickets or projects in
// Cite (by key; none if the collection has no answer) and contain the texts in Says, in any case.
// Questions of the half "choose" may be looked at during tuning; those of "report" are only
// counted.
type Asked struct {
	Half     string   `json:"half"`
	Question string   `json:"question"`
	Cite     []string `json:"cite"`
	Says     []string `json:"says"`
}

// Halves are the two halves of the questions.
var Halves = []string{"choose", "report"}

// ReadAsked reads questions, one JSON object per line.
func ReadAsked(path string) ([]Asked, error) {
	list, err := readQuestions(path, func(one Asked) error {
		if strings.TrimSpace(one.Question) == "" || !slices.Contains(Halves, one.Half) {
			return fmt.Errorf("it must have a question, and a half that is %s", strings.Join(Halves, " or "))
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s holds no question", path)
	}
	return list, err
}

// Rates are counts. Of answerable questions: those with a right text among the sources, those whose
// answer cites it and says what it must, and those with a note of the right ticket among the
// sources, because resolutions are in notes. Of unanswerable ones: the answers that cite nothing.
type Rates struct {
	Retrieval, Half                                            string
	Answerable, Sourced, Cited, Noted, Unanswerable, Abstained int
	Wrong                                                      []string // questions with a wrong answer
}

// CheckAnswers sends every question with both retrieval methods, and counts by half.
func CheckAnswers(ctx context.Context, service Service, questions []Asked, progress func(step string)) (all []Rates, err error) {
	projects, err := service.projectKeys(ctx)
	if err != nil {
		return nil, err
	}
	for _, retrieval := range []string{"vector", "hybrid"} {
		progress("asking by " + retrieval + " retrieval")
		rates, err := checkRetrieval(ctx, service, questions, retrieval, projects)
		if err != nil {
			return nil, err
		}
		all = append(all, rates...)
	}
	return all, nil
}

func checkRetrieval(ctx context.Context, service Service, questions []Asked, retrieval string, projects map[int64]string) (rates []Rates, err error) {
	answers := make([]answered, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i, q := range questions {
		group.Go(func() error {
			if err := service.post(ctx, "/api/query", map[string]any{"question": q.Question, "retrieval": retrieval}, &answers[i]); err != nil {
				return fmt.Errorf("ask %q: %w", q.Question, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, half := range Halves {
		r := Rates{Retrieval: retrieval, Half: half}
		for i, q := range questions {
			if q.Half == half {
				r.count(q, answers[i], projects)
			}
		}
		rates = append(rates, r)
	}
	return rates, nil
}

// answered is the part of an answer needed for counting.
type answered struct {
	Answer  string `json:"answer"`
	Sources []struct {
		ProjectID  int64   `json:"project_id"`
		TicketKey  *string `json:"ticket_key"`
		TicketName *string `json:"ticket_name"`
		Text       string  `json:"text"`
		Cited      bool    `json:"cited"`
	} `json:"sources"`
}

// projectKeys returns the keys of the projects by id.
func (s Service) projectKeys(ctx context.Context) (map[int64]string, error) {
	var list struct {
		Results []struct {
			ProjectID int64  `json:"project_id"`
			Key       string `json:"key"`
		} `json:"results"`
	}
	if err := s.get(ctx, "/api/projects", &list); err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	keys := make(map[int64]string, len(list.Results))
	for _, project := range list.Results {
		keys[project.ProjectID] = project.Key
	}
	return keys, nil
}

func (r *Rates) count(q Asked, got answered, projects map[int64]string) {
	cites, source, right, note := false, false, false, false
	for _, s := range got.Sources {
		cites = cites || s.Cited
		key := projects[s.ProjectID]
		if s.TicketKey != nil {
			key = *s.TicketKey
		}
		if slices.Contains(q.Cite, key) {
			source, right = true, right || s.Cited
			note = note || s.TicketName != nil && !strings.HasPrefix(s.Text, *s.TicketName)
		}
	}
	good := right && !slices.ContainsFunc(q.Says, func(part string) bool {
		return !strings.Contains(strings.ToLower(got.Answer), strings.ToLower(part))
	})
	if len(q.Cite) == 0 {
		good = !cites
		r.Unanswerable++
		r.Abstained += one(good)
	} else {
		r.Answerable++
		r.Sourced += one(source)
		r.Cited += one(good)
		r.Noted += one(note)
	}
	if !good {
		r.Wrong = append(r.Wrong, q.Question)
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// PrintAnswers prints the counts, and the wrongly answered questions of the half "choose".
func PrintAnswers(to io.Writer, name string, all []Rates) error {
	var out strings.Builder
	questions := 0
	for _, r := range all[:len(Halves)] {
		questions += r.Answerable + r.Unanswerable
	}
	fmt.Fprintf(&out, "%s: %d questions\n\n%-22s %18s %18s %18s %24s\n", name, questions, "retrieval, half", "right one a source", "right one cited", "its note a source", "unanswerable, abstained")
	for _, r := range all {
		of := func(part, whole int) string { return fmt.Sprintf("%d of %d", part, whole) }
		fmt.Fprintf(&out, "%-22s %18s %18s %18s %24s\n", r.Retrieval+", "+r.Half, of(r.Sourced, r.Answerable), of(r.Cited, r.Answerable), of(r.Noted, r.Answerable), of(r.Abstained, r.Unanswerable))
	}
	for _, r := range all {
		if r.Half == Halves[0] {
			for _, question := range r.Wrong {
				fmt.Fprintf(&out, "\nwrong (%s): %s", r.Retrieval, question)
			}
		}
	}
	_, err := io.WriteString(to, strings.TrimRight(out.String(), "\n")+"\n")
	return err
}
