package openai

import (
	"context"

	"github.com/sony/gobreaker/v2"
)

// The operations that a provider is asked for, each with a circuit of its own.
const (
	OperationEmbeddings = "embeddings"
	OperationChat       = "chat"
)

// Call is what a watcher is told before the provider is asked.
type Call struct {
	Operation string
	Model     string // that is asked
}

// Outcome is what a watcher is told of a call in the end.
type Outcome struct {
	Model     string // that answered; "" where the provider does not say
	Finish    string // of a chat
	TokensIn  int    // 0 where the provider does not count, or the call failed
	TokensOut int
	Err       error
}

// Watch is told of every call of the provider, with all its attempts, and of those that the circuit refused. The context
// that it gives is that of the call; the function that it gives is called once.
type Watch func(ctx context.Context, call Call) (context.Context, func(Outcome))

// begin tells the watcher, where there is one.
func (c *Client) begin(ctx context.Context, operation, model string) (context.Context, func(Outcome)) {
	if c.watch == nil {
		return ctx, func(Outcome) {}
	}
	return c.watch(ctx, Call{Operation: operation, Model: model})
}

// LeftAlone names the operations for which the provider is left alone just now, having failed several times.
func (c *Client) LeftAlone() (operations []string) {
	for _, circuit := range []circuit{c.embedCircuit, c.chatCircuit} {
		if circuit.breaker != nil && circuit.breaker.State() == gobreaker.StateOpen {
			operations = append(operations, circuit.breaker.Name())
		}
	}
	return operations
}
