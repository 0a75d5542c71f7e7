package main

import (
	"slices"
	"testing"

	"tasklens/internal/collection"
	"tasklens/server/calibrate"
)

func TestJudgedPairs(t *testing.T) {
	t.Parallel()
	queries := []collection.Query{
		{ID: "2", Text: "second", Judged: map[string]float64{"TX-6": 1, "TX-1": 2, "TX-5": 1, "TX-2": 1, "TX-4": 2, "TX-3": 1}},
		{ID: "1", Text: "first", Judged: map[string]float64{"TX-1": 1}},
	}
	want := []calibrate.Pair{
		{Query: "second", TicketKey: "TX-1"}, {Query: "second", TicketKey: "TX-2"}, {Query: "second", TicketKey: "TX-3"},
		{Query: "second", TicketKey: "TX-4"}, {Query: "second", TicketKey: "TX-5"}, {Query: "second", TicketKey: "TX-6"},
		{Query: "first", TicketKey: "TX-1"},
	}
	if got := judgedPairs(queries); !slices.Equal(got, want) {
		t.Errorf("pairs are %+v", got)
	}
}
