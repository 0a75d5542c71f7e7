package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/google/uuid"

	"tasklens/internal/tokenizer"
	"tasklens/internal/wait"
	"tasklens/scripts/lab/eval"
)

// mostVerifyDollars is the maximum cost of a verification.
const mostVerifyDollars = 1.00

type verifyConfig struct {
	Model          checkModelConfig
	SupabaseURL    string `env:"SUPABASE_URL,required"`
	SecretKey      string `env:"SUPABASE_SECRET_KEY"`
	ServiceRoleKey string `env:"SUPABASE_SERVICE_ROLE_KEY"`
	JWTSecret      string `env:"SUPABASE_JWT_SECRET"`
	OpenAIKey      string `env:"OPENAI_API_KEY"`
	DatabaseURL    string `env:"DATABASE_URL"`
	Metrics        string `env:"METRICS_URL,required"`
	Server         string `env:"SERVER,required"`       // the service's program
	CLI            string `env:"SUPABASE_CLI,required"` // the Supabase CLI
	Folder         string `env:"FOLDER,required"`       // has the sample with keys of its own; for logs
	Report         string `env:"REPORT,required"`
	StandIns       bool   `env:"STAND_INS"`
}

// verification checks a Supabase project and a model, and collects the lines of a report.
type verification struct {
	verifyConfig
	key, email, password, token, auth string // of the service; of the user; of Supabase Auth
	questions                         []eval.Asked
	loaded                            int // tokens to embed
	before                            stored
	stop                              func() // ends the service
	report                            bytes.Buffer
	title                             string         // of a section without lines yet
	counts                            map[string]int // of results
}

// verifyLive proves a Supabase project and a model with the sample workspace, prints a line for
// each check, and writes them to a report.
func verifyLive(ctx context.Context, args []string) error {
	flags := newFlags("verify-live")
	yes, keep := flags.Bool("yes", false, ""), flags.Bool("keep", false, "")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return errUsage
	}
	config, err := env.ParseAs[verifyConfig]()
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	config.SupabaseURL = strings.TrimRight(config.SupabaseURL, "/")
	v := &verification{
		verifyConfig: config, key: cmp.Or(config.SecretKey, config.ServiceRoleKey), auth: config.SupabaseURL + "/auth/v1", stop: func() {},
		email: verifyMark + "-" + uuid.NewString() + "@example.com", password: uuid.NewString() + "Aa1!", counts: map[string]int{},
	}
	if err := v.plan(*yes); err != nil {
		return err
	}
	begun := time.Now()
	if v.database(ctx) {
		v.write(ctx)
		v.stop()
		v.title = "Removal"
		if *keep {
			v.line("skipped", "removal", "--keep. To remove it: "+verifyByHand, "")
		} else {
			v.remove(context.WithoutCancel(ctx))
		}
	}
	summary := fmt.Sprintf("%d ok, %d warnings, %d FAILED, %d skipped, in %v", v.counts["ok"], v.counts["warning"], v.counts["FAILED"], v.counts["skipped"],
		time.Since(begun).Round(time.Second))
	if ctx.Err() != nil {
		summary += "; interrupted: not everything was checked"
	}
	title := "# tasklens on " + v.SupabaseURL + "\n\n"
	if v.StandIns {
		title += "**Run against stand-ins: proves the command, not the services.**\n\n"
	}
	title += fmt.Sprintf("%s, %s and %s: %s.\n", begun.Format(time.RFC1123), v.Model.EmbeddingModel, v.Model.ChatModel, summary)
	fmt.Printf("\n%s\nThe report is %s\n", summary, v.Report)
	if err := os.WriteFile(v.Report, append([]byte(title), v.report.Bytes()...), 0o644); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case v.counts["FAILED"] > 0:
		return fmt.Errorf("checks failed: %d", v.counts["FAILED"])
	}
	return nil
}

// plan says what will be done and what it costs, and asks for consent.
func (v *verification) plan(yes bool) error {
	tokens, err := tokenizer.Load()
	if err != nil {
		return err
	}
	for _, file := range []string{"questions.jsonl", "named_questions.jsonl", "comment_questions.jsonl", "field_questions.jsonl"} {
		questions, err := eval.ReadAsked(filepath.Join(v.Folder, file))
		if err != nil {
			return err
		}
		v.questions = append(v.questions, questions...)
	}
	fields, err := eval.ReadFieldQuestions(v.Folder)
	if err != nil {
		return err
	}
	if v.loaded, err = tokensToLoad(tokens, v.Folder); err != nil {
		return err
	}
	asked := len(v.questions) + len(fields)
	read, written := readByAnAnswer*asked, writtenByAnAnswer*asked
	fmt.Fprintf(os.Stderr, `Project: %s
This creates a user, imports the sample workspace as the projects %s and documents,
asks %d questions, edits tickets, and removes all of it (with --keep: leaves it). A database with other projects is refused.
It embeds about %d tokens; the chat model reads at most %d and writes at most %d. Prices are those of November 2026.
`, v.SupabaseURL, strings.Join(verifyKeys, ", "), asked, v.loaded, read, written)
	if err := v.Model.allow(v.Model.cost(v.loaded, read, written), mostVerifyDollars); err != nil || yes {
		return err
	}
	fmt.Fprint(os.Stderr, "Begin? (yes) ")
	if said, _ := bufio.NewReader(os.Stdin).ReadString('\n'); strings.TrimSpace(said) != "yes" {
		return errors.New("nothing was done: answer yes, or give --yes")
	}
	return nil
}

// write makes the checks that change the project. What they write is removed later.
func (v *verification) write(ctx context.Context) {
	logs := "See " + v.Folder + "/service.log"
	v.title = "Import and embedding"
	if !v.check(ctx, "service with AUTH=on", logs, func() (string, error) {
		err := v.removeRows(ctx) // of an earlier run
		if err == nil {
			v.before, err = v.count(ctx)
		}
		if err == nil {
			err = v.start(ctx)
		}
		return "", err
	}) {
		return
	}
	for _, args := range [][]string{{"--origin", verifyMark, v.Folder}, {filepath.Join(v.Folder, eval.DocumentsFolder)}} {
		if !v.check(ctx, "import "+filepath.Base(args[len(args)-1]), "Check OPENAI_API_KEY. "+logs, func() (string, error) {
			printed, err := v.run(ctx, "", v.Server, append([]string{"import"}, args...)...)
			first, _, _ := strings.Cut(string(printed), "\n")
			return first, err
		}) {
			return
		}
	}
	v.check(ctx, "queue", "scripts/check says what hangs. "+logs, func() (string, error) {
		var s struct {
			Pending, Running, Failed, Dead, Chunks int
			Without                                int `json:"sources_without_chunks"`
		}
		err := until(ctx, 2*time.Minute, func() error {
			err := v.api(ctx, "/api/embeddings/status", nil, &s)
			if err == nil && s.Pending+s.Running+s.Failed+s.Dead+s.Without > 0 {
				err = fmt.Errorf("%+v", s)
			}
			return err
		})
		return fmt.Sprintf("empty, %d chunks", s.Chunks), err
	})
	v.postgREST(ctx)
	v.tokens(ctx)
	v.answers(ctx)
	v.title = "Freshness"
	v.check(ctx, "from commit to found by meaning", logs, func() (string, error) { return v.edit(ctx) })
	v.tools(ctx)
}

// start starts the service and waits until it is ready.
func (v *verification) start(ctx context.Context) error {
	log, err := os.Create(filepath.Join(v.Folder, "service.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	running, cancel := context.WithCancel(ctx)
	service := exec.CommandContext(running, v.Server, "serve")
	service.Stdout, service.Stderr, service.WaitDelay = log, log, 20*time.Second
	service.Cancel = func() error { return service.Process.Signal(os.Interrupt) }
	v.stop = func() {
		cancel()
		_ = service.Wait() // it was interrupted
	}
	if err := service.Start(); err != nil {
		return err
	}
	return until(ctx, 30*time.Second, func() error { return v.api(ctx, "/readyz", nil, nil) })
}

// until tries something every 100 ms until it succeeds. Its error is that of the last attempt.
func until(ctx context.Context, patience time.Duration, try func() error) error {
	for deadline := time.Now().Add(patience); ; {
		if err := try(); err == nil || time.Now().After(deadline) {
			return err
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
