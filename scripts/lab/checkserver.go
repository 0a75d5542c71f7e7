package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/chat"
	"tasklens/internal/fault"
	"tasklens/internal/openai"
	"tasklens/internal/vector"
)

// trial is a real model server, started by this program, and what its client learns of it.
type trial struct {
	s settings
	*openai.Client
	command []string
	running *exec.Cmd
	learnt  []string
}

// point is something that is tried of a server.
type point struct {
	name string
	try  func(ctx context.Context, t *trial) (string, error)
}

// checkServer starts a server and prints a line for each point, and one of its dialect. The name of
// a model that the server does not have is "-".
func checkServer(ctx context.Context, s settings, args []string) error {
	t := &trial{s: s, command: args}
	t.Client = t.as(s.OpenAIKey, s.EmbeddingModel, s.ChatModel)
	defer t.stop()
	if err := t.start(ctx); err != nil {
		return err
	}
	for model, points := range [][]point{embeddingPoints, chatPoints} {
		if []string{s.EmbeddingModel, s.ChatModel}[model] == "-" {
			continue
		}
		for _, p := range points {
			said, err := p.try(ctx, t)
			if err != nil {
				said = fmt.Sprintf("**%.300s**", strings.Join(strings.Fields(err.Error()), " "))
			}
			fmt.Printf("%s\t%s\n", p.name, said)
		}
	}
	fmt.Printf("dialect\t%s\n", cmp.Or(strings.Join(t.learnt, "; "), "OpenAI's"))
	return nil
}

func (t *trial) as(key, embedding, chatting string) *openai.Client {
	return openai.New(openai.Config{BaseURL: t.s.OpenAIBaseURL, APIKey: key, EmbeddingModel: embedding, ChatModel: chatting, ThinksApart: true, AttemptTimeout: 5 * time.Minute,
		Notice: func(message string, args ...any) {
			t.learnt = append(t.learnt, strings.ReplaceAll(fmt.Sprintf("%s %v", message, args), "|", "/"))
		}})
}

// start starts the server, and waits until it listens.
func (t *trial) start(ctx context.Context) error {
	address, err := url.Parse(t.s.OpenAIBaseURL)
	if err != nil || len(t.command) == 0 {
		return errors.Join(err, errUsage)
	}
	t.running = exec.CommandContext(ctx, t.command[0], t.command[1:]...)
	t.running.Stdout, t.running.Stderr = os.Stderr, os.Stderr
	t.running.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := t.running.Start(); err != nil {
		return err
	}
	for range 45 * 60 { // a gateway first waits for its own servers
		if connection, err := net.DialTimeout("tcp", address.Host, time.Second); err == nil {
			return connection.Close()
		}
		time.Sleep(time.Second)
	}
	return errors.New("it does not listen within 45 minutes")
}

// stop kills the server and what it has started.
func (t *trial) stop() {
	if t.running != nil {
		group := -t.running.Process.Pid
		_ = syscall.Kill(group, syscall.SIGKILL)
		_ = t.running.Wait()
		for tries := 0; tries < 300 && syscall.Kill(group, 0) == nil; tries++ {
			time.Sleep(100 * time.Millisecond) // a large one takes a while to leave its port
		}
		t.running = nil
	}
}

var embeddingPoints = []point{
	{"64 inputs", func(ctx context.Context, t *trial) (string, error) {
		inputs := make([]string, probed)
		for i := range inputs {
			inputs[i] = fmt.Sprint("The pump leaks at valve ", i)
		}
		return numbers(t.Embed(ctx, t.s.EmbeddingModel, inputs))
	}},
	{"a chunk of 500 tokens", func(ctx context.Context, t *trial) (string, error) {
		vectors, cut, err := t.Embed(ctx, t.s.EmbeddingModel, []string{longChunk, longChunk + "Invoices are paid late."})
		switch {
		case err != nil:
			return "", err
		case len(cut) > 0:
			return "refused, embedded without its end", nil
		case slices.Equal(vectors[0], vectors[1]):
			return "its end is left out in silence", nil
		}
		return "whole", nil
	}},
	{"256 dimensions", func(ctx context.Context, t *trial) (string, error) {
		said, err := numbers(t.Embed(ctx, openai.StoredModel(t.s.EmbeddingModel, 256), []string{"a cat", "a dog"}))
		return refused(err, "EMBEDDING_DIMENSIONS: unset it", said)
	}},
	{"wrong key, embedding", func(ctx context.Context, t *trial) (string, error) {
		_, _, err := t.as("wrong", "", "").Embed(ctx, t.s.EmbeddingModel, []string{"a"})
		return refused(err, fault.ErrKey.Error(), "any key")
	}},
	{"unknown model, embedding", func(ctx context.Context, t *trial) (string, error) {
		_, _, err := t.Embed(ctx, "no-such", []string{"a"})
		return refused(err, "does not know the model", "any name")
	}},
}

// numbers counts those that the model gave: zeros follow them.
func numbers(vectors []vector.Vector, _ []int, err error) (string, error) {
	if err != nil {
		return "", err
	}
	n := len(vectors[0])
	for n > 0 && vectors[0][n-1] == 0 {
		n--
	}
	return fmt.Sprint(n, " numbers"), nil
}

func refused(err error, saying, otherwise string) (string, error) {
	switch {
	case err == nil:
		return otherwise, nil
	case errors.Is(err, fault.ErrInput), !strings.Contains(err.Error(), saying):
		return "", err
	}
	return "refused as such", nil
}

func asked(message string, tokens int) chat.Request {
	return chat.Request{Instructions: "You are a helpful assistant. Answer in one short sentence.", Message: message, MaxTokens: tokens}
}

var chatPoints = []point{
	{"whole answer", func(ctx context.Context, t *trial) (string, error) {
		return told(t.Complete(ctx, asked("Which color has the sky?", 48)))
	}},
	{"stream", func(ctx context.Context, t *trial) (string, error) {
		pieces := 0
		said, err := told(t.Stream(ctx, asked("Which color has the sky?", 48), func(string) error { pieces++; return nil }))
		return fmt.Sprintf("%s, %d pieces", said, pieces), err
	}},
	{"end of the room", func(ctx context.Context, t *trial) (string, error) {
		return told(t.Complete(ctx, asked("Count from 1 to 100.", 4)))
	}},
	{"tool", func(ctx context.Context, t *trial) (string, error) {
		request := asked("How many bugs are open?", probeTokens)
		request.Tool = &answer.Tool
		said, err := t.Complete(ctx, request)
		if _, wrong := answer.ReadCall(said.Call, time.UTC); err != nil || wrong != nil {
			return "taken or left out; the model does not call it", err
		}
		return "called", nil
	}},
	{"JSON", func(ctx context.Context, t *trial) (string, error) {
		said, err := t.CompleteJSON(ctx, "Answer in JSON.", `Which color has the sky? Answer {"color": "…"}.`, probeTokens, color)
		if err != nil || !strings.Contains(said.Text, `"color"`) {
			return "taken, but the model does not keep to the schema", err
		}
		return "of the schema", nil
	}},
	{"prompt of 40,000 tokens", func(ctx context.Context, t *trial) (string, error) {
		_, err := t.Complete(ctx, asked(strings.Repeat(longChunk, 70), 48))
		return refused(err, "too large for the model", "cut in silence")
	}},
	{"wrong key", func(ctx context.Context, t *trial) (string, error) {
		_, err := t.as("wrong", "", t.s.ChatModel).Complete(ctx, asked("Hi", 4))
		return refused(err, fault.ErrKey.Error(), "any key")
	}},
	{"unknown model", func(ctx context.Context, t *trial) (string, error) {
		_, err := t.as(t.s.OpenAIKey, "", "no-such").Complete(ctx, asked("Hi", 4))
		return refused(err, "does not know the model", "any name")
	}},
	{"killed in an answer", func(ctx context.Context, t *trial) (string, error) {
		said, err := t.Stream(ctx, asked("Tell a long story.", 2000), func(string) error { t.stop(); return nil })
		if err == nil {
			return "", fmt.Errorf("the answer seems whole (%s)", said.Finish)
		}
		return "an error", nil
	}},
	{"started again", func(ctx context.Context, t *trial) (string, error) {
		if err := t.start(ctx); err != nil {
			return "", err
		}
		learnt := len(t.learnt)
		_, err := t.Complete(ctx, asked("Hi", 4))
		if len(t.learnt) > learnt {
			return "answers, in another dialect", err
		}
		return "answers", err
	}},
}

func told(said chat.Completion, err error) (string, error) {
	return fmt.Sprintf("%s, %d and %d tokens", said.Finish, said.TokensIn, said.TokensOut), err
}
