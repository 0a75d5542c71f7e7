// Package openai calls the model provider, OpenAI or a compatible server, for embeddings and chat
// completions. It owns timeouts, retries, request limits and the meaning of the provider's
// failures. It knows nothing about tickets, prompts or storage.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"tasklens/internal/fault"
)

// Limits of one embeddings request. The API accepts 2,048 inputs and 300,000 tokens. The margin is
// for servers that count differently: up to twice as many tokens for non-Latin scripts.
const (
	MaxInputs = 2048
	MaxTokens = 100_000
)

const (
	// maxRetryDelay is the longest Retry-After that is waited for within a request. If the provider
	// asks for more, the caller gets the error at once.
	maxRetryDelay = 4 * time.Second
	// embedRetryDelay is the same for embeddings. Two retries fit in a query's time budget, so a
	// rate limit is reported as such and not as a timeout.
	embedRetryDelay = 2 * time.Second
	// maxResponseBytes bounds a response: MaxInputs embeddings take 17 MB, or about 40 MB from a
	// server that writes them as JSON numbers.
	maxResponseBytes = 64 << 20
	// maxChatBytes bounds a chat completion with its envelope, which in a stream is about 400 bytes
	// per token.
	maxChatBytes = 8 << 20
)

// Config selects the provider and the models. EmbeddingModel is the model whose vectors are stored.
type Config struct {
	BaseURL        string // including /v1
	APIKey         string
	EmbeddingModel string
	Dimensions     int // requested for embeddings; 0: the model's default
	ChatModel      string
	AttemptTimeout time.Duration // of one attempt; the context bounds all attempts together
	MaxRetries     int
	// The circuit breaker opens for CircuitPause after CircuitFailures consecutive failed calls. 0
	// failures: never.
	CircuitFailures int
	CircuitPause    time.Duration
	Watch           Watch                                     // optional
	Around          func(http.RoundTripper) http.RoundTripper // wraps the transport of every attempt; optional
}

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	api            openai.Client
	chatting       *http.Client  // chat, whole responses
	streaming      *http.Client  // chat, streamed responses
	silence        time.Duration // the longest pause of a stream
	key            string
	retries        int
	watch          Watch
	embedCircuit   circuit
	chatCircuit    circuit
	embeddingModel string
	dimensions     int
	chatModel      string
}

// New returns a client. It reads no environment variables and sends nothing before the first call.
func New(c Config) *Client {
	var transport http.RoundTripper = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 5 * time.Second,
		// For streams: their client has no timeout.
		ResponseHeaderTimeout: c.AttemptTimeout,
	}
	if c.Around != nil {
		transport = c.Around(transport)
	}
	return &Client{
		api: openai.NewClient(
			option.WithBaseURL(c.BaseURL),
			option.WithAPIKey(c.APIKey),
			option.WithMaxRetries(c.MaxRetries),
			option.WithMaxRetryDelay(maxRetryDelay),
			option.WithMiddleware(dontRetry),
			// The timeout is the HTTP client's because the library does not retry after its own
			// request timeout.
			option.WithHTTPClient(&http.Client{Transport: bounded{transport, maxResponseBytes}, Timeout: c.AttemptTimeout}),
		),
		chatting:       &http.Client{Transport: bounded{transport, maxChatBytes}, Timeout: c.AttemptTimeout},
		streaming:      &http.Client{Transport: bounded{transport, maxChatBytes}},
		silence:        cmp.Or(c.AttemptTimeout, math.MaxInt64),
		key:            c.APIKey,
		retries:        c.MaxRetries,
		watch:          c.Watch,
		embedCircuit:   newCircuit(OperationEmbeddings, c.CircuitFailures, c.CircuitPause),
		chatCircuit:    newCircuit(OperationChat, c.CircuitFailures, c.CircuitPause),
		embeddingModel: c.EmbeddingModel,
		dimensions:     c.Dimensions,
		chatModel:      c.ChatModel,
	}
}

// bounded is a transport that fails once a response body exceeds a number of bytes.
type bounded struct {
	http.RoundTripper
	limit int64
}

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, b.limit)
	}
	return response, err
}

// EmbeddingModel returns the name under which the vectors of the configured model are stored.
func (c *Client) EmbeddingModel() string { return StoredModel(c.embeddingModel, c.dimensions) }

// asked splits a stored model name into the provider's model name and the requested dimensions, 0
// for the model's default.
func (c *Client) asked(stored string) (model string, dimensions int) {
	if stored == c.EmbeddingModel() {
		return c.embeddingModel, c.dimensions
	}
	if at := strings.LastIndexByte(stored, '@'); at > 0 {
		if dimensions, err := strconv.Atoi(stored[at+1:]); err == nil && dimensions > 0 {
			return stored[:at], dimensions
		}
	}
	return stored, 0
}

// StoredModel returns the name under which a model's vectors are stored. Dimensions are part of it,
// because vectors of different dimensions cannot be compared.
func StoredModel(model string, dimensions int) string {
	if dimensions == 0 {
		return model
	}
	return model + "@" + strconv.Itoa(dimensions)
}

// ChatModel returns the name of the model that Complete calls.
func (c *Client) ChatModel() string { return c.chatModel }

// failure maps a provider's failure to the service's errors. The provider's text is kept in the
// cause, without our key.
func (c *Client) failure(ctx context.Context, err error) error {
	err = keyless{err, c.key}
	var answer *openai.Error
	var network net.Error
	switch {
	case errors.As(err, &answer):
		return answered(answer, keyless{said{answer}, c.key})
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Timeout, "The request was cancelled.", err)
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fault.Wrap(fault.Timeout, "The model provider did not answer in time.", err)
	default:
		return fault.Wrap(fault.Provider, "The model provider could not be reached.", err)
	}
}

// said is the provider's response, for the log. The library's own error text shows the request
// instead.
type said struct{ answer *openai.Error }

func (s said) Error() string {
	return "the model provider answered " + strconv.Itoa(s.answer.StatusCode) + " " + s.answer.Code + ": " + s.answer.Message
}

func (s said) Unwrap() error { return s.answer }

// keyless is an error whose text omits the key, which a provider may repeat in its message.
type keyless struct {
	error
	key string
}

func (k keyless) Error() string {
	text := k.error.Error()
	if k.key == "" {
		return text
	}
	return strings.ReplaceAll(text, k.key, "…")
}

func (k keyless) Unwrap() error { return k.error }

func answered(answer *openai.Error, cause error) error {
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		cause = fmt.Errorf("%w: %w", fault.ErrKey, cause)
	}
	if answer.StatusCode == http.StatusTooManyRequests && answer.Code != quotaCode && answer.Type != quotaCode {
		limited := fault.Wrap(fault.Unavailable, "The model provider is rate-limiting this service.", cause).Because(fault.ModelLimited)
		limited.RetryAfter = 10 * time.Second
		if answer.Response != nil {
			if wait, is := retryAfter(answer.Response.Header, time.Now()); is {
				limited.RetryAfter = wait
			}
		}
		return limited
	}
	return fault.Wrap(fault.Provider, "The model provider failed.", cause)
}
