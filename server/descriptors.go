package main

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"syscall"

	"tasklens/server/api"
)

// File descriptors besides client connections. docs/operations.md documents the same sum.
const (
	upstreamPerRequest = 2   // concurrent upstream calls per request: database and model
	idleUpstream       = 144 // idle connections kept: 64 to PostgREST, 64 to the model, 16 to the key set
	otherDescriptors   = 64  // standard streams, listeners, name resolution, metrics, traces
	redisPerCPU        = 10  // connections per pool
	redisPools         = 2   // cache and rate limit
)

// ownDescriptors is the number of descriptors needed besides client connections.
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

// connectionsWithin is the number of connections for which a descriptor limit is enough. A
// connection carries one request at a time, and MAX_IN_FLIGHT bounds the requests that hold
// upstream connections.
func (c Config) connectionsWithin(limit int) int {
	room := limit - c.ownDescriptors()
	connections := room / (1 + upstreamPerRequest)
	if c.MaxInFlight > 0 {
		connections = max(connections, room-upstreamPerRequest*c.MaxInFlight)
	}
	return connections
}

// boundConnections lowers MAX_CONNECTIONS to what the descriptor limit allows, and fails if that is
// none.
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

// descriptorLimit returns the process's RLIMIT_NOFILE. Go has already raised the soft limit to the
// hard one.
func descriptorLimit() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of file descriptors: %w", err)
	}
	return int(min(limit.Cur, math.MaxInt32)), nil
}
