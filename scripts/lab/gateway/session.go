package gateway

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxPrepared limits the prepared statements of one connection.
const maxPrepared = 256

// session is a connection with its prepared statements. They are prepared in the transaction that
// first needs them, after the role is set, because the login role may not use the schema. Roles can
// share them: search_path differs by schema privilege, and a change of it replans.
type session struct {
	conn     *pgconn.PgConn
	prepared map[string]string // SQL to name
	serial   int
}

// sessionOf returns the session of a connection, which holds it.
func sessionOf(conn *pgconn.PgConn) *session {
	kept, known := conn.CustomData()["gateway"].(*session)
	if !known {
		kept = &session{conn: conn, prepared: map[string]string{}}
		conn.CustomData()["gateway"] = kept
	}
	return kept
}

// exec runs a command without parameters.
func (s *session) exec(ctx context.Context, command string) error {
	_, err := s.conn.Exec(ctx, command).ReadAll()
	return err
}

// run sends all steps and one Sync in one round trip, and returns the values of the last step's
// rows, concatenated. If a step fails, failed is its index and the earlier steps are rolled back.
func (s *session) run(ctx context.Context, steps ...statement) (values [][]byte, failed int, err error) {
	pipeline := s.conn.StartPipeline(ctx)
	dropped := 0
	if len(s.prepared) >= maxPrepared {
		for _, name := range s.prepared {
			pipeline.SendDeallocate(name)
		}
		dropped = len(s.prepared)
		clear(s.prepared)
	}
	fresh := make([]string, len(steps)) // names of statements not yet prepared
	for i, step := range steps {
		name, ok := s.prepared[step.sql]
		if !ok {
			s.serial++
			name = "gateway_" + strconv.Itoa(s.serial)
			fresh[i] = name
			pipeline.SendPrepare(name, step.sql, step.types)
		}
		pipeline.SendQueryPrepared(name, step.values, nil, nil)
	}
	if err = pipeline.Sync(); err == nil {
		values, failed, err = s.read(pipeline, dropped, steps, fresh)
	}
	// Close drains the rest and reports a failed commit.
	if closing := pipeline.Close(); err == nil && closing != nil {
		return nil, len(steps), fmt.Errorf("end transaction: %w", closing)
	}
	return values, failed, err
}

func (s *session) read(pipeline *pgconn.Pipeline, dropped int, steps []statement, fresh []string) (values [][]byte, failed int, err error) {
	for range dropped {
		if _, err := pipeline.GetResults(); err != nil {
			return nil, len(steps), fmt.Errorf("drop statements: %w", err)
		}
	}
	for i, step := range steps {
		if fresh[i] != "" {
			if _, err := pipeline.GetResults(); err != nil {
				return nil, i, fmt.Errorf("prepare step %d: %w", i, err)
			}
			// It stays prepared even after a rollback.
			s.prepared[step.sql] = fresh[i]
		}
		got, err := pipeline.GetResults()
		if err != nil {
			return nil, i, fmt.Errorf("run step %d: %w", i, err)
		}
		reader, ok := got.(*pgconn.ResultReader)
		if !ok {
			return nil, i, fmt.Errorf("run step %d: unexpected %T", i, got)
		}
		values = nil
		for reader.NextRow() {
			for _, v := range reader.Values() {
				values = append(values, bytes.Clone(v)) // only valid until the next row
			}
		}
		if _, err := reader.Close(); err != nil {
			return nil, i, fmt.Errorf("run step %d: %w", i, err)
		}
	}
	return values, 0, nil
}
