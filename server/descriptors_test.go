package main

import (
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// needed is the maximum number of descriptors for this many connections.
func needed(c Config, connections int) int {
	inFlight := connections
	if c.MaxInFlight > 0 {
		inFlight = min(inFlight, c.MaxInFlight)
	}
	return c.ownDescriptors() + connections + upstreamPerRequest*inFlight
}

// The number of connections is the largest that fits.
func TestConnectionsWithinTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			MaxConns: rapid.IntRange(0, 5000).Draw(t, "connections"), MaxInFlight: rapid.IntRange(0, 1000).Draw(t, "in flight"),
			Worker: rapid.SampledFrom([]string{"on", "off"}).Draw(t, "worker"), WorkerConcurrency: rapid.IntRange(1, 64).Draw(t, "worker concurrency"),
			RedisURL: rapid.SampledFrom([]string{"", "redis://a"}).Draw(t, "redis"),
		}
		wanted, limit := c.MaxConns, rapid.IntRange(0, 10_000).Draw(t, "limit")
		var log strings.Builder
		err := boundConnections(&c, limit, slog.New(slog.NewTextHandler(&log, nil)))
		if enough := limit >= needed(c, 1); (err == nil) != enough {
			t.Fatalf("a limit of %d is enough: %t; %v", limit, enough, err)
		}
		if err != nil {
			return
		}
		full := needed(c, c.MaxConns+1) > limit
		if c.MaxConns < 1 || needed(c, c.MaxConns) > limit || c.MaxConns != wanted && !full || wanted > 0 && c.MaxConns > wanted {
			t.Fatalf("%d connections of %d within %d", c.MaxConns, wanted, limit)
		}
		if said := strings.Contains(log.String(), "MAX_CONNECTIONS"); said != (c.MaxConns < wanted) {
			t.Errorf("%d connections of %d, and the log is %q", c.MaxConns, wanted, &log)
		}
	})
}

// The defaults need what docs/operations.md documents.
func TestDescriptorsOfTheUsualSettings(t *testing.T) {
	t.Parallel()
	c := Config{MaxConns: 2048, MaxInFlight: 256, Worker: "on", WorkerConcurrency: 4}
	got := needed(c, c.MaxConns)
	_, table, _ := strings.Cut(section(page(t, "operations.md"), "Limits"), "\n### File descriptors\n")
	documented := 0
	for _, row := range regexp.MustCompile(`(?m)\| ([\d,]+) \|$`).FindAllStringSubmatch(table, -1) {
		number, err := strconv.Atoi(strings.ReplaceAll(row[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		documented += number
	}
	// The last row is the sum of the others.
	if documented != 2*got || !strings.Contains(table, fmt.Sprintf("| %d,%03d |", got/1000, got%1000)) {
		t.Errorf("%d descriptors, and the table of docs/operations.md adds up to %d", got, documented/2)
	}
	c.RedisURL = "redis://a"
	if with := needed(c, c.MaxConns); with != got+20*runtime.GOMAXPROCS(0) {
		t.Errorf("%d descriptors with Redis", with)
	}
}
