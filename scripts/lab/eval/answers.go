package eval

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"tasklens/scripts/lab/measure"
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
	list, err := readQuestions(path, true, func(one Asked) error {
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

// Rates are counts. Of answerable questions: those with a right text among the sources, and those
// whose answer cites it and says what it must. Of unanswerable ones: the answers that cite nothing.
type Rates struct {
	Half                                                string
	Answerable, Sourced, Cited, Unanswerable, Abstained int
	Wrong                                               []string   // questions with a wrong answer
	Answers                                             [][]string // each question's sources and answer
}

// CheckAnswers sends every question, and counts by half.
func CheckAnswers(ctx context.Context, service Service, questions []Asked, progress func(step string)) (rates []Rates, err error) {
	projects, err := service.projectKeys(ctx)
	if err != nil {
		return nil, err
	}
	progress("asking")
	answers := make([]answered, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i, q := range questions {
		group.Go(func() error {
			if err := service.post(ctx, "/api/query", map[string]any{"question": q.Question}, &answers[i]); err != nil {
				return fmt.Errorf("ask %q: %w", q.Question, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, half := range Halves {
		r := Rates{Half: half}
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
		ProjectID int64   `json:"project_id"`
		TicketKey *string `json:"ticket_key"`
		Cited     bool    `json:"cited"`
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
	cites, source, right := false, false, false
	seen := []string{got.Answer}
	for _, s := range got.Sources {
		cites = cites || s.Cited
		key := projects[s.ProjectID]
		if s.TicketKey != nil {
			key = *s.TicketKey
		}
		seen = append(seen, fmt.Sprint(key, s.Cited))
		if slices.Contains(q.Cite, key) {
			source, right = true, right || s.Cited
		}
	}
	r.Answers = append(r.Answers, seen)
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

// Answers prints the counts of the questions of one file, and the wrongly answered ones of the half
// "choose".
func (r Result) Answers(file string, all []Rates) error {
	for _, rates := range all {
		measured := fmt.Sprintf("%s, to %s by", strings.TrimSuffix(file, ".jsonl"), rates.Half)
		for _, one := range []struct {
			metric    string
			count, of int
		}{
			{"right one a source", rates.Sourced, rates.Answerable},
			{"right one cited", rates.Cited, rates.Answerable},
			{"abstained from unanswerable", rates.Abstained, rates.Unanswerable},
		} {
			if err := r.count(measured, fmt.Sprintf("%s, of %d", one.metric, one.of), one.count); err != nil {
				return err
			}
		}
		if err := r.figure(measured, listsOf+"answers and sources", digest(rates.Answers)); err != nil {
			return err
		}
		if rates.Half != Halves[0] {
			continue
		}
		for _, question := range rates.Wrong {
			if err := r.note("wrong: %s", question); err != nil {
				return err
			}
		}
	}
	return nil
}

// Queries returns the answerable questions as queries for what they should cite.
func Queries(ctx context.Context, service Service, questions []Asked) (queries []Query, err error) {
	projects, err := service.projectKeys(ctx)
	if err != nil {
		return nil, err
	}
	items := map[string]string{}
	for id, key := range projects {
		items[key] = hit{ProjectID: id}.item()
	}
	for i, q := range questions {
		judged := measure.Judged{}
		for _, key := range q.Cite {
			if item, known := items[key]; known {
				key = item
			}
			judged[key] = 1
		}
		if len(judged) > 0 {
			queries = append(queries, Query{ID: strconv.Itoa(i + 1), Text: q.Question, Judged: judged})
		}
	}
	return queries, nil
}
