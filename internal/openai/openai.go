// Package openai calls the model provider, OpenAI or a compatible server, for embeddings and chat
// completions. It owns timeouts, retries, request limits, circuit breakers and the meaning of the
// provider's failures. It knows nothing about tickets, prompts or storage.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"tasklens/internal/chat"
)

const (
	// maxRetryDelay is the longest Retry-After that is waited for within a request. If the provider
	// asks for more, the caller gets the error at once. Two retries fit in a query's time budget, so
	// a rate limit is reported as such and not as a timeout.
	maxRetryDelay = 2 * time.Second
	// maxResponseBytes bounds a response. maxInputs embeddings take 1 MB, or about 3 MB as JSON
	// numbers; a stream takes about 400 bytes per token.
	maxResponseBytes = 8 << 20
	// maxValues bounds the values in it: each takes hundreds of bytes, however short it is.
	maxValues = 200_000
	// maxRefusalBytes is how much of an error is read: it may repeat the request.
	maxRefusalBytes = 1 << 20
)

// Config selects the provider and the models. EmbeddingModel is the model whose vectors are stored.
type Config struct {
	BaseURL        string // including /v1
	APIKey         string
	EmbeddingModel string
	Dimensions     int // requested for embeddings; 0: the model's default
	ChatModel      string
	ThinksApart    bool          // the chat model is known to write no thoughts into its text without an opening mark
	AttemptTimeout time.Duration // of one attempt; the context bounds all attempts together
	MaxRetries     int
	// The circuit breaker opens for CircuitPause after CircuitFailures consecutive failed calls. 0
	// failures: never.
	CircuitFailures int
	CircuitPause    time.Duration
	Watch           Watch                                     // optional
	Around          func(http.RoundTripper) http.RoundTripper // wraps the transport of every attempt; optional
	Notice          func(message string, args ...any)         // logs what the server refuses, once; optional
}

// Watch observes every call of the provider, retries included, and calls rejected by a circuit
// breaker. The call runs under the returned context. The returned function is called once, at the
// end; of embeddings it gets TokensIn alone.
type Watch func(ctx context.Context, operation, model string) (context.Context, func(chat.Completion, error))

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	api              openai.Client
	embeddingDialect dialect
	chatDialect      dialect
	limits           sync.Map     // inputs of one request, by model, where the server takes fewer
	thinks           atomic.Int32 // where the chat model does
	notice           func(message string, args ...any)
	streaming        *http.Client  // for streamed responses
	silence          time.Duration // the longest pause of a stream
	key              string
	watch            Watch
	embedding        breaker
	chatting         breaker
	embeddingModel   string
	dimensions       int
	chatModel        string
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
	if c.Watch == nil {
		c.Watch = func(ctx context.Context, _, _ string) (context.Context, func(chat.Completion, error)) {
			return ctx, func(chat.Completion, error) {}
		}
	}
	if c.Notice == nil {
		c.Notice = func(string, ...any) {}
	}
	client := &Client{
		embeddingDialect: dialect{doubts: map[string]int{}},
		chatDialect:      dialect{doubts: map[string]int{}},
		notice:           c.Notice,
		api: openai.NewClient(
			option.WithBaseURL(c.BaseURL),
			option.WithAPIKey(c.APIKey),
			option.WithMaxRetries(c.MaxRetries),
			option.WithMaxRetryDelay(maxRetryDelay),
			// The timeout is the HTTP client's because the library does not retry after its own
			// request timeout.
			option.WithHTTPClient(&http.Client{Transport: bounded{transport}, Timeout: c.AttemptTimeout}),
		),
		streaming:      &http.Client{Transport: bounded{transport}},
		silence:        cmp.Or(c.AttemptTimeout, math.MaxInt64),
		key:            c.APIKey,
		watch:          c.Watch,
		embedding:      newBreaker(OperationEmbeddings, c.CircuitFailures, c.CircuitPause),
		chatting:       newBreaker(OperationChat, c.CircuitFailures, c.CircuitPause),
		embeddingModel: c.EmbeddingModel,
		dimensions:     c.Dimensions,
		chatModel:      c.ChatModel,
	}
	if c.ThinksApart {
		client.thinks.Store(thinksApart)
	}
	return client
}

// bounded is a transport that fails once a response body is larger than any valid one. An error
// that only a smaller request can avoid gets a status that is not retried.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(request)
	if err != nil {
		return response, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxResponseBytes)
	if response.StatusCode >= http.StatusBadRequest {
		content, err := io.ReadAll(io.LimitReader(response.Body, maxRefusalBytes))
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(content))
		response.StatusCode = readRefusal(response.StatusCode, response.Header, content).status
	}
	return response, nil
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
