package eval

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/kljensen/snowball/english"

	"tasklens/scripts/lab/bm25"
	"tasklens/scripts/lab/collection"
)

// bm25f ranks whole tickets by BM25F over title and description, as a dedicated search engine
// would.
type bm25f struct {
	index *bm25.Index
	keys  []string
}

func newBM25F(ctx context.Context, connection *pgx.Conn) (bm25f, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	rows, err := connection.Query(ctx, `select t.key, t.name, coalesce(t.description, '') from public.tickets t order by t.ticket_id`)
	if err != nil {
		return bm25f{}, fmt.Errorf("read tickets: %w", err)
	}
	var keys []string
	var documents [][][]string
	var key, title, description string
	_, err = pgx.ForEachRow(rows, []any{&key, &title, &description}, func() error {
		keys = append(keys, key)
		documents = append(documents, [][]string{words(title), words(description)})
		return nil
	})
	if err != nil {
		return bm25f{}, fmt.Errorf("read tickets: %w", err)
	}
	return bm25f{bm25.New(bm25.Parameters{K1: 1.2, B: 0.75, Weights: []float64{3, 1}}, documents), keys}, nil
}

func (b bm25f) rank(_ context.Context, query collection.Query) ([]string, error) {
	var keys []string
	for _, h := range b.index.Search(words(query.Text), depth) {
		keys = append(keys, b.keys[h.Document])
	}
	return keys, nil
}

// words returns the stems (Snowball's English) of the runs of letters and digits. There is no stop
// list: idf gives stop words little weight, and a query of only stop words still finds something.
func words(text string) []string {
	stems := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range stems {
		stems[i] = english.Stem(word, true)
	}
	return stems
}
