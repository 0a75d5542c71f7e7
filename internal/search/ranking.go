package search

import (
	"context"
	"time"

	"tasklens/internal/filter"
	"tasklens/internal/rescue"
)

// headStart is how long to wait for the embedding before keyword ranking starts in parallel. If it
// arrives sooner, from the cache or a nearby model, one database call for both searches is as fast
// as two and costs less.
const headStart = 20 * time.Millisecond

// Words are the arguments of keyword ranking.
type Words struct {
	Text         string
	ProjectID    *int64
	StatusFilter *string
	Filters      filter.Filters
}

// narrow adds filters to the arguments of a function, or leaves the argument out if there are none.
func narrow(arguments map[string]any, filters filter.Filters) map[string]any {
	if !filters.IsZero() {
		arguments["filters"] = filters
	}
	return arguments
}

// Ranking is a row of keyword_ranking, passed back to the database unchanged.
type Ranking struct {
	Projects string `json:"projects"`
	Tickets  string `json:"tickets"`
	Scores   string `json:"scores"`
	Exact    int    `json:"exact"`
}

// RankWhile embeds and, if that takes longer than headStart, lets the database rank by keywords in
// parallel. The ranking becomes the argument keyword_ranking of the fusing functions; if it is nil,
// they rank by themselves. The error is that of the embedding: if ranking fails, the fusing
// function fails too, with a better error.
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
