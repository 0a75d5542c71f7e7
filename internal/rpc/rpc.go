// Package rpc calls functions of the database and reads what they return. It knows neither how the
// database is reached nor who calls.
package rpc

import (
	"context"
	"fmt"
)

// Caller calls a Postgres function with named arguments, under one identity. Its errors name the
// function.
type Caller interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// All returns the rows of a function.
func All[T any](ctx context.Context, db Caller, function string, arguments any) ([]T, error) {
	rows := []T{}
	if err := db.Call(ctx, function, arguments, &rows); err != nil {
		return nil, err
	}
	return rows, nil
}

// One returns the row of a function that always returns one.
func One[T any](ctx context.Context, db Caller, function string, arguments any) (row T, err error) {
	rows, err := All[T](ctx, db, function, arguments)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%s returned %d rows, not one", function, len(rows))
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// Value returns what a function that returns no rows does.
func Value[T any](ctx context.Context, db Caller, function string, arguments any) (value T, err error) {
	err = db.Call(ctx, function, arguments, &value)
	return value, err
}
