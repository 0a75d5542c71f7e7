// Package openai asks the model provider, OpenAI or a server that speaks its protocol, for embeddings and chat
// completions. It owns timeouts, retries, the limits of a request and what a provider's failure means. It knows
// nothing of tickets, prompts or storage.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"tasklens/internal/fault"
)

// Limits of one embeddings request. The API takes 2,048 inputs and 300,000 tokens; the margin is for servers that
// count tokens otherwise, which in scripts other than Latin is up to twice as many.
const (
	MaxInputs = 2048
	MaxTokens = 100_000
)

const (
	// maxRetryDelay is how long a provider may ask to wait before an attempt is repeated within a request; when it
	// asks for longer, the caller gets that error instead.
	maxRetryDelay = 4 * time.Second
	// embedRetryDelay is the same for embeddings: two retries fit in the time that questions allow, so that a rate limit is
	// reported as one and not as a timeout.
	embedRetryDelay = 2 * time.Second
	// maxResponseBytes bounds an answer: MaxInputs embeddings have 17 MB, or some 40 MB where a server writes them as numbers.
	maxResponseBytes = 64 << 20
	// maxChatBytes bounds a chat completion with all that is around its text, which in a stream is some 400 bytes a token.
	maxChatBytes = 8 << 20
)

// Config says which provider and which models. EmbeddingModel names the model whose vectors are stored.
type Config struct {
	BaseURL        string // with /v1
	APIKey         string
	EmbeddingModel string
	Dimensions     int // that embeddings are asked for; 0: the model's own
	ChatModel      string
	AttemptTimeout time.Duration // of one attempt; the context bounds all of them together
	MaxRetries     int
	// After CircuitFailures failed calls in a row the provider is left alone for CircuitPause. 0 failures: never.
	CircuitFailures int
	CircuitPause    time.Duration
	Watch           Watch                                     // nil watches nothing
	Around          func(http.RoundTripper) http.RoundTripper // goes around the transport of every attempt; nil: nothing does
}

// Client asks one provider. It is safe for concurrent use.
type Client struct {
	api            openai.Client
	chatting       *http.Client // for answers of the chat model
	streaming      *http.Client // for those that come piece by piece
	key            string
	retries        int
	watch          Watch
	embedCircuit   circuit
	chatCircuit    circuit
	embeddingModel string
	dimensions     int
	chatModel      string
}

// New makes a client. It reads no environment variables; nothing is sent before the first call.
func New(c Config) *Client {
	var transport http.RoundTripper = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 5 * time.Second,
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
			// On the HTTP client, because the library's own request timeout is not retried.
			option.WithHTTPClient(&http.Client{Transport: bounded{transport, maxResponseBytes}, Timeout: c.AttemptTimeout}),
		),
		chatting:       &http.Client{Transport: bounded{transport, maxChatBytes}, Timeout: c.AttemptTimeout},
		streaming:      &http.Client{Transport: idle{bounded{transport, maxChatBytes}, c.AttemptTimeout}},
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

// bounded is a transport whose answers end at so many bytes with an error.
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

// EmbeddingModel is the name under which the vectors of the configured model are stored.
func (c *Client) EmbeddingModel() string { return StoredModel(c.embeddingModel, c.dimensions) }

// asked is the provider's name of the model whose vectors are stored under this one, and for how many dimensions it is
// asked; 0 are its own.
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

// StoredModel is the name under which a model's vectors are stored. What it was asked for in so many dimensions is
// another model's, because it cannot be compared with the rest.
func StoredModel(model string, dimensions int) string {
	if dimensions == 0 {
		return model
	}
	return model + "@" + strconv.Itoa(dimensions)
}

// ChatModel is the name of the model that Complete asks.
func (c *Client) ChatModel() string { return c.chatModel }

// failure says in the service's own terms how the provider failed. The provider's text stays in the cause, without our key.
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
		return fault.Wrap(fault.Provider, "The model provider could not be asked.", err)
	}
}

// said is what a provider answered, for the log: the library's own text hides that, and shows the request instead.
type said struct{ answer *openai.Error }

func (s said) Error() string {
	return "the model provider answered " + strconv.Itoa(s.answer.StatusCode) + " " + s.answer.Code + ": " + s.answer.Message
}

func (s said) Unwrap() error { return s.answer }

// keyless is an error whose text does not show the key, which a provider may repeat in what it says of it.
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
		limited := fault.Wrap(fault.Unavailable, "The model provider limits us.", cause)
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
