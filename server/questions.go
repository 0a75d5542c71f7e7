package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"tasklens/internal/querylog"
)

// showQuestions prints recent questions and searches without results.
func showQuestions(ctx context.Context, args []string) error {
	flags := newFlags("questions")
	days, limit := flags.Int("days", 7, ""), flags.Int("limit", 50, "")
	if flags.Parse(args) != nil || flags.NArg() > 0 || *days < 1 || *days > 3650 || *limit < 1 || *limit > 1000 {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	list, err := querylog.ReadUnanswered(ctx, newDatabase(config).AsService(), *days, *limit)
	if err != nil {
		return err
	}
	return printQuestions(os.Stdout, list, *days)
}

// printQuestions prints them as a table, one per line.
func printQuestions(to io.Writer, list []querylog.Unanswered, days int) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(to, "Within %d days no question that is in the query log found nothing.\n", days)
		return err
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "times\tlast asked\tbest similarity\tquestion")
	for _, q := range list {
		best := "–"
		if q.BestSimilarity != nil {
			best = fmt.Sprintf("%.3f", *q.BestSimilarity)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", q.Times, q.LastAskedAt.UTC().Format(time.DateTime), best, oneLine(q.Question))
	}
	return table.Flush()
}

// oneLine makes untrusted text safe for a terminal: line breaks become spaces and control
// characters are removed.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
}
