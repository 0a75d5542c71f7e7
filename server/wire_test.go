package main

import (
	"testing"

	"tasklens/internal/postgrest"
)

func TestTheQueryLogCanBeOff(t *testing.T) {
	t.Parallel()
	if newQueryLog(Config{QueryLog: "off"}, postgrest.New("http://127.0.0.1:1", "key"), observer{}) != nil {
		t.Error("there is a log")
	}
}
