package search

import (
	"context"
	"time"

	"tasklens/internal/filter"
	"tasklens/internal/rescue"
)

// headStart is how long an embedding is waited for before the words are looked up beside it. Where
// it comes sooner, remembered or from a model nearby, one call of the database that does everything
// is as soon done as two, and costs less.
const headStart = 20 * time.Millisecond

// Words are what the keyword side of a hybrid search is asked for.
type Words struct {
	Text         string
	ProjectID    *int64
	StatusFilter *string
	Filters      filter.Filters
}

// narrow adds filters to the arguments of a function. Where there are none the argument is left
// out.
func narrow(arguments map[string]any, filters filter.Filters) map[string]any {
	if !filters.IsZero() {
		arguments["filters"] = filters
	}
	return arguments
}

// Ranking is what the words find: a row of keyword_ranking, to be handed back to the database as it
// is.
type Ranking struct {
	Projects string `json:"projects"`
	Tickets  string `json:"tickets"`
	Scores   string `json:"scores"`
	Exact    int    `json:"exact"`
}

// RankWhile embeds and, where that takes its time, has the database rank by words meanwhile. The
// ranking is the argument keyword_ranking of the functions that fuse; without one, nil, they look
// the words up themselves. Its error is embed's: where the ranking fails, so will the function that
// fuses, and tells it better.
func RankWhile(ctx context.Context, db Database, words Words, embed func(context.Context) error) (ranking *Ranking, err error) {
	ranked := make(chan *Ranking, 1)
	lookup := time.AfterFunc(headStart, func() {
		var rows []Ranking
		arguments := narrow(map[string]any{"query_text": words.Text, "project_filter": words.ProjectID, "status_filter": words.StatusFilter}, words.Filters)
		err := rescue.Do(func() error { return db.Call(ctx, "keyword_ranking", arguments, &rows) })
		if err != nil || len(rows) != 1 {
			ranked <- nil
			return
		}
		ranked <- &rows[0]
	})
	err = embed(ctx)
	if lookup.Stop() || ctx.Err() != nil {
		return nil, err
	}
	return <-ranked, err
}
