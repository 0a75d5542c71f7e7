package main

import (
	"strings"
	"testing"
	"time"

	"tasklens/internal/querylog"
)

func TestQuestionsAreATable(t *testing.T) {
	t.Parallel()
	best := 0.51239
	var out strings.Builder
	err := printQuestions(&out, []querylog.Unanswered{
		{Question: "How do I\n bake\x1b[2J bread?", Times: 12, LastAskedAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600)), BestSimilarity: &best},
		{Question: "Wo?", Times: 1, LastAskedAt: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
	}, 7)
	want := "times  last asked           best similarity  question\n" +
		"12     2030-01-02 02:04:05  0.512            How do I bake[2J bread?\n" +
		"1      2030-01-01 00:00:00  –                Wo?\n"
	if err != nil || out.String() != want {
		t.Errorf("error %v, printed:\n%s\nwant:\n%s", err, out.String(), want)
	}
	out.Reset()
	if err := printQuestions(&out, nil, 7); err != nil || !strings.Contains(out.String(), "Within 7 days no question") {
		t.Errorf("error %v, printed %q", err, out.String())
	}
}
