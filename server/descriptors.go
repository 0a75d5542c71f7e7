package main

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"syscall"

	"tasklens/server/api"
)

// What the process holds open besides its clients' connections; docs/operations.md has the same sum.
const (
	upstreamPerRequest = 2   // calls that a request has under way at a time: of the database and the model
	idleUpstream       = 144 // connections kept for reuse: 64 to PostgREST, 64 to the model, 16 to the key set
	otherDescriptors   = 64  // standard streams, listeners, name resolution, metrics, traces
	redisPerCPU        = 10  // connections of a pool
	redisPools         = 2   // cache and rate limit
)

// ownDescriptors is how many descriptors are needed whatever the number of connections.
func (c Config) ownDescriptors() int {
	own := api.MaxRefusals + idleUpstream + otherDescriptors + enrichConcurrency
	if c.Worker == "on" {
		own += upstreamPerRequest * c.WorkerConcurrency
	}
	if c.RedisURL != "" {
		own += redisPools * redisPerCPU * runtime.GOMAXPROCS(0)
	}
	return own
}

// connectionsWithin is the most connections that a limit of descriptors has room for. A connection carries one request
// at a time, and MAX_IN_FLIGHT bounds how many of these hold upstream connections.
func (c Config) connectionsWithin(limit int) int {
	room := limit - c.ownDescriptors()
	connections := room / (1 + upstreamPerRequest)
	if c.MaxInFlight > 0 {
		connections = max(connections, room-upstreamPerRequest*c.MaxInFlight)
	}
	return connections
}

// boundConnections lowers MAX_CONNECTIONS to what the limit of file descriptors has room for, and fails where that is none.
func boundConnections(c *Config, limit int, log *slog.Logger) error {
	within := c.connectionsWithin(limit)
	if within < 1 {
		return fmt.Errorf("the limit of file descriptors (RLIMIT_NOFILE) is %d, and %d are needed to serve one connection: raise it (ulimit -n, LimitNOFILE)",
			limit, c.ownDescriptors()+1+upstreamPerRequest)
	}
	if c.MaxConns > within {
		log.Warn("fewer connections than MAX_CONNECTIONS are served: raise the limit of file descriptors (ulimit -n, LimitNOFILE)",
			"limit", limit, "max_connections", c.MaxConns, "served", within)
	}
	if c.MaxConns == 0 || c.MaxConns > within {
		c.MaxConns = within
	}
	return nil
}

// descriptorLimit is the process's RLIMIT_NOFILE. Go has raised the soft limit to the hard one by now.
func descriptorLimit() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of file descriptors: %w", err)
	}
	return int(min(limit.Cur, math.MaxInt32)), nil
}
