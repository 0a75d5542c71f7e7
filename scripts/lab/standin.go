package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"tasklens/scripts/lab/gateway"
	"tasklens/scripts/lab/offline"
	"tasklens/scripts/lab/offline/minilm"
)

// The verbs of this file replace Supabase and OpenAI in development. Their servers listen on
// loopback only, whatever the settings.

// errNoDatabase prevents an empty DATABASE_URL from meaning PGHOST's database or the local default.
var errNoDatabase = errors.New("DATABASE_URL must be set (postgres://user:password@host:5432/database)")

func serveGateway(ctx context.Context, config settings, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	if config.PostgREST != "" {
		target, err := url.Parse(config.PostgREST)
		if err != nil {
			return fmt.Errorf("parse POSTGREST_URL: %w", err)
		}
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
		return serveLoopback(ctx, config.Port, gateway.Prefixed(proxy))
	}
	if config.DatabaseURL == "" {
		return errNoDatabase
	}
	g, err := gateway.New(ctx, gateway.Config{
		DatabaseURL: config.DatabaseURL, JWTSecret: []byte(config.JWTSecret), Schemas: slices.Compact([]string{config.Schema, "public"}),
		ExtraSearchPath: []string{"public", "extensions"}, AnonRole: "anon",
	})
	if err != nil {
		return err
	}
	defer g.Close()
	return serveLoopback(ctx, config.Port, g)
}

func serveModel(ctx context.Context, config settings, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	var options []offline.Option
	name := offline.EmbeddingModel
	if config.ModelDir != "" {
		embed, err := openModel(config)
		if err == nil {
			name, options = minilm.Name, append(options, offline.WithEmbedder(minilm.Name, embed))
		} else {
			fmt.Println("without a language model:", err)
		}
	}
	fmt.Println("embedding model:", name)
	return serveLoopback(ctx, config.Port, offline.NewHandler(options...))
}

// openModel opens the language model, with the vectors that measurements keep.
func openModel(config settings) (embedder, error) {
	model, err := minilm.Open(config.ModelDir)
	if err != nil || config.Vectors == "" {
		return model.Embed, err
	}
	return stored(config.Vectors, minilm.Dimensions, model.Embed)
}

// serveLoopback serves until the context ends. It prints its address, which tells the port if 0 was
// requested.
func serveLoopback(ctx context.Context, port int, handler http.Handler) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Println("http://" + listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return server.Shutdown(drain)
	}
}

func printToken(_ context.Context, config settings, args []string) (err error) {
	if len(args) < 1 || len(args) > 2 {
		return errUsage
	}
	claims := map[string]any{"role": args[0], "iss": "tasklens", "exp": time.Now().AddDate(10, 0, 0).Unix()}
	if len(args) == 2 {
		if claims, err = gateway.UserClaims(config.SupabaseURL, args[0], args[1]); err != nil {
			return err
		}
	}
	token, err := gateway.Token([]byte(config.JWTSecret), claims)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, token)
	return err
}
