package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"tasklens/internal/cache"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
)

// memory is the cache of responses. Its fields are nil if CACHE is off.
type memory struct {
	store      cache.Store
	results    *memo.Memo
	embeddings *memo.Embeddings
}

const (
	// cacheBytes bounds the cache in memory.
	cacheBytes = 64 << 20
	// cacheLifetime bounds the life of cached responses, which become unreachable with the first edit.
	cacheLifetime = time.Hour
)

// redisPatience is the maximum time that a request waits for Redis: recomputing takes not much
// longer.
const redisPatience = 50 * time.Millisecond

func newMemory(c Config, model *openai.Client, o observer) (m memory, err error) {
	if c.Cache == "off" {
		m.embeddings = memo.NewEmbeddings(model, c.OpenAIBaseURL, nil, nil)
		return m, nil
	}
	if c.RedisURL != "" {
		m.store, err = cache.NewRedis(c.RedisURL, redisPatience, func(message string, err error) { o.log.Warn(message, "error", err) })
	} else {
		m.store, err = cache.NewMemory(cacheBytes)
	}
	if err != nil {
		return m, err
	}
	settings, err := settingsOfResults(c, cacheRevision())
	if err != nil {
		return m, err
	}
	if c.RedisURL != "" && builtFrom() == "" {
		o.log.Warn("this build has no revision, so no other process uses its cached responses: build from a clean checkout, or with -ldflags \"-X main.revision=NAME\"")
	}
	m.embeddings = memo.NewEmbeddings(model, c.OpenAIBaseURL, m.store, o.countCached)
	m.results = memo.New(memo.Options{
		Store: m.store, Settings: settings, Lifetime: cacheLifetime, Count: o.countCached,
		Warn: func(ctx context.Context, message string, err error) {
			o.log.WarnContext(ctx, message, "error", err)
		},
	})
	return m, nil
}

func (m memory) close() error {
	if m.store == nil {
		return nil
	}
	return m.store.Close()
}

// settingsOfResults is a digest of everything besides the request and the data that affects a
// response: the settings and the program's revision with its prompts. A new release therefore never
// reads the cache of an older one.
func settingsOfResults(c Config, revision string) (string, error) {
	settings, err := json.Marshal([]any{
		revision, c.RESTURL, c.OpenAIBaseURL, c.storedModel(), c.ChatModel, c.VectorWeight, c.KeywordWeight, c.Fusion,
	})
	if err != nil {
		return "", fmt.Errorf("encode the settings: %w", err)
	}
	digest := sha256.Sum256(settings)
	return hex.EncodeToString(digest[:]), nil
}
