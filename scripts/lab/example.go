package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"tasklens/scripts/lab/examples"
)

// elsewhere are the examples that need more than a demo, and why.
var elsewhere = map[string]string{
	"docs/operations.md: AUTH=on": "needs a hosted project",
	"README.md: git clone <the address of this repository> tasklens && cd tasklens":                                                              "clones the repository and starts the demo",
	"README.md: npx supabase start                 # applies supabase/migrations":                                                                "needs Docker",
	"README.md: npx supabase link --project-ref <ref> && npx supabase db push":                                                                   "needs a hosted project",
	"docs/access.md: insert into project_members (project_id, user_id, role)":                                                                    "reads auth.users, which the demo lacks",
	"docs/adopt.md: npx supabase link --project-ref <ref>":                                                                                       "needs a hosted project",
	"docs/adopt.md: CGO_ENABLED=0 go build -o tasklens ./server":                                                                                 "needs real keys, and writes .env",
	"docs/adopt.md: ./scripts/verify-live":                                                                                                       "scripts/check-stack live does the same",
	"docs/adopt.md: psql DATABASE-URL -f supabase/remove.sql     # or paste the file into the SQL editor":                                        "removes the demo; TestRemovalLeavesNothing runs it",
	"docs/adopt.md: token=$(curl -s \"$SUPABASE_URL/auth/v1/token?grant_type=password\" -H \"apikey: <publishable key>\" \\":                     "needs Supabase Auth",
	"docs/development.md: scripts/postgres start .local/test/postgres":                                                                           "starts a cluster",
	"docs/development.md: ./scripts/postgres delete && rm -rf .local":                                                                            "deletes the demo",
	"docs/documents.md: ./scripts/import notes/     # a folder with its subfolders, or one file":                                                 "needs the reader's own files",
	"docs/frontend.md: npm install ./tasklens-client-0.1.0.tgz":                                                                                  "scripts/check-stack client does the same",
	"docs/frontend.md: import { createTasklens, ProblemError } from 'tasklens-client';":                                                          "scripts/check-stack client compiles and runs such calls",
	"docs/frontend.md: import { ProblemError } from 'tasklens-client';":                                                                          "scripts/check-stack client runs such errors",
	"docs/frontend.md: for await (const { event, data } of tasklens.ask(question)) {":                                                            "scripts/check-stack client compiles and runs such a loop",
	"docs/frontend.md: CORS_ORIGINS=http://localhost:3000 ./scripts/demo":                                                                        "starts the demo",
	"docs/quality.md: ./scripts/eval PATH >before.tsv      # then change something":                                                              "needs a collection, and takes minutes",
	"docs/mcp.md: {\"mcpServers\": {\"tasklens\": {\"command\": \"npx\", \"args\": [\"-y\", \"mcp-remote\", \"https://search.example.com/mcp\",": "is a client's settings",
	"docs/import.md: ./scripts/import PATH…           # into the running demo, or the project that SUPABASE_URL names":                           "needs the reader's own files",
	"docs/import.md: {\"project_id\": \"TX\", \"name\": \"Checkout and Payments\", \"description\": \"…\", \"language\": \"german\"}":            "is a file",
	"docs/indexing.md: ./scripts/backfill          # sources and tokens to embed, and the cost":                                                  "re-embeds the demo's data",
	"docs/indexing.md: EMBEDDING_MODEL=the-new-one ./scripts/reembed --estimate    # tokens and cost":                                            "needs another model",
	"docs/models.md: OPENAI_API_KEY=… ./scripts/check-model":                                                                                     "needs a key",
	"docs/operations.md: create extension if not exists pg_prewarm with schema extensions;":                                                      "needs the right to create the extension",
	"docs/scale.md: create index concurrently chunks_embedding_new_idx on public.chunks":                                                         "replaces an index of the demo",
}

// tryExamples runs the examples of README.md and docs/ in the current folder.
func tryExamples(ctx context.Context, config settings, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	service, err := url.Parse(config.ServiceURL)
	if err != nil || service.Host == "" {
		return errors.New("SERVICE_URL must be the address of a service")
	}
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		return err
	}
	return examples.Run{Root: ".", Service: service.Host, Elsewhere: elsewhere}.Do(ctx, append([]string{"README.md"}, files...), os.Stdout)
}
