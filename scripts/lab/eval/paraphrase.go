package eval

import (
	"context"
	"fmt"
	"slices"
)

// ParaphrasesFile is the name of a folder's file of them.
const ParaphrasesFile = "paraphrases.jsonl"

// Found counts paraphrases: queries that have no word in common with the tickets that they
// describe.
type Found struct {
	Half          string
	All, InFirst3 int
	Missed        []string
}

// CheckParaphrases searches for each question of a half with the service's default settings.
func CheckParaphrases(ctx context.Context, service Service, questions []Asked) (found []Found, err error) {
	for _, half := range Halves {
		f := Found{Half: half}
		for _, q := range questions {
			if q.Half != half {
				continue
			}
			is, err := service.inFirst3(ctx, q)
			if err != nil {
				return nil, err
			}
			f.All++
			if is {
				f.InFirst3++
			} else {
				f.Missed = append(f.Missed, q.Question)
			}
		}
		found = append(found, f)
	}
	return found, nil
}

// inFirst3 searches for a paraphrase.
func (s Service) inFirst3(ctx context.Context, q Asked) (bool, error) {
	p, err := s.search(ctx, q.Question, nil, 3, 0)
	return slices.ContainsFunc(p.Results, func(h hit) bool { return slices.Contains(q.Cite, h.item()) }), err
}

// Paraphrases prints the counts, and what is missed of the half "choose".
func (r Result) Paraphrases(found []Found) error {
	for _, f := range found {
		if err := r.count(fmt.Sprintf("paraphrases, to %s by", f.Half), fmt.Sprintf("in the first three, of %d", f.All), f.InFirst3); err != nil {
			return err
		}
		for _, question := range f.Missed {
			if f.Half == Halves[0] {
				if err := r.note("missed: %s", question); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
