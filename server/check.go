package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"tasklens/internal/clean"
	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
	"tasklens/server/api"
	"tasklens/supabase"
)

// checkTimeout bounds the whole check. The database's statement timeout is shorter.
const checkTimeout = time.Minute

// finding is the check's result for one part of the installation: error, warning or ok.
type finding struct {
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Finding  string `json:"finding"`
	Remedy   string `json:"remedy,omitempty"`
}

// stale is what is wrong where functions have changed since PostgREST read the schema.
var stale = finding{"error", "PostgREST", "its schema cache is older than the database: functions that have changed cannot be called",
	"Have it read the schema again: notify pgrst, 'reload schema';"}

// obstacle is what a repair of the database removes, where the check's own call failed for it.
func obstacle(err error) []finding {
	if postgrest.IsStale(err) {
		return []finding{stale}
	}
	answer, is := errors.AsType[*postgrest.Error](err)
	if is && answer.Code == postgrest.UnknownSchema {
		return []finding{{"error", "SUPABASE_SCHEMA", "the API does not expose this schema", postgrest.Expose}}
	}
	if is && fault.CodeOf(err) == fault.Forbidden {
		return []finding{{"error", "grants", "the service may not check them: " + answer.Message, "As the owner: select tasklens.set_grants();"}}
	}
	return nil
}

// checkInstallation prints missing or misconfigured parts of the database.
func checkInstallation(ctx context.Context, args []string) error {
	flags := newFlags("check")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	findings, err := inspect(ctx, newDatabase(config).AsService(), config.storedModel())
	if err != nil {
		return err
	}
	findings = append(findings, inspectIssuer(config)...)
	if *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"findings": findings})
	} else {
		err = printFindings(os.Stdout, findings)
	}
	if wrong := count(findings, "error"); err == nil && wrong > 0 {
		return fmt.Errorf("errors found: %d", wrong)
	}
	return err
}

// inspect compares the applied migrations with the program's and, if they allow it, runs the check
// in the database. Errors come first, then warnings.
func inspect(ctx context.Context, db *postgrest.Session, model string) ([]finding, error) {
	findings, err := inspectMigrations(ctx, db)
	if err != nil {
		return nil, err
	}
	var rows []finding
	switch err := db.Call(ctx, "check_installation", map[string]any{"embedding_model": model}, &rows); {
	case obstacle(err) != nil:
		rows = obstacle(err)
	case isUnknown(err):
		findings = append(findings, finding{"error", "check_installation", "the database has no such function: nothing else was checked",
			"Apply the migrations. If none is missing, have PostgREST read the schema again: notify pgrst, 'reload schema';"})
	case err != nil:
		return nil, fmt.Errorf("check the installation: %w", err)
	}
	findings = append(findings, rows...)
	switch err := db.Call(ctx, "probe_statement_timeout", nil, nil); {
	case obstacle(err) != nil:
		findings = append(findings, obstacle(err)...)
	case err == nil: // it was not cut off
		findings = append(findings, finding{"warning", "PostgREST", "it does not apply the statement timeouts of functions: a long text that takes longer than that of the role is not indexed",
			"Upgrade PostgREST to 12.2 or later; db-hoisted-tx-settings, if set, must contain statement_timeout."})
	case !isUnknown(err) && fault.CodeOf(err) != fault.Timeout:
		return nil, fmt.Errorf("check the statement timeouts: %w", err)
	}
	order := []string{"error", "warning", "ok"}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	return slices.Compact(findings), nil // one obstacle stops several parts of the check
}

// hosted matches the address of a project whose tokens name it as their issuer.
var hosted = regexp.MustCompile(`^https://\w+\.supabase\.(co|in|red)/?$`)

func inspectIssuer(c Config) []finding {
	if c.Auth == "off" || c.JWTIssuer != "" || hosted.MatchString(c.SupabaseURL) {
		return nil
	}
	return []finding{{"warning", "SUPABASE_JWT_ISSUER", "it is not set, so that tokens must name the issuer " + c.issuers()[0] + ": those of a self-hosted Supabase or a custom domain name another one, or none",
		"Set it to the iss of an access token (with docker compose, API_EXTERNAL_URL), or to none if the token has no iss."}}
}

func inspectMigrations(ctx context.Context, db *postgrest.Session) (findings []finding, err error) {
	known, err := supabase.List(supabase.Migrations())
	if err != nil {
		return nil, err
	}
	missing, unknown, err := api.CompareSchema(ctx, db, known)
	if errors.Is(err, supabase.ErrUnreleased) {
		return []finding{{"error", "migrations", err.Error(), ""}}, nil
	}
	if found := obstacle(err); found != nil {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	for _, m := range missing {
		findings = append(findings, finding{"error", "migration " + m.File, "it is not applied", "npx supabase db push, or psql -1 -f with each file that is missing, in order"})
	}
	for _, version := range unknown {
		findings = append(findings, finding{"warning", "migration " + version, "this program does not know it", "Deploy the newer version of the program."})
	}
	if len(findings) == 0 {
		findings = append(findings, finding{"ok", "migrations", fmt.Sprintf("all %d are applied", len(known)), ""})
	}
	return findings, nil
}

func isUnknown(err error) bool {
	var answer *postgrest.Error
	return errors.As(err, &answer) && answer.Code == postgrest.UnknownFunction
}

func count(findings []finding, severity string) (n int) {
	for _, f := range findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// maxFinding bounds what is printed of a finding, in characters.
const maxFinding = 2000

// printFindings prints each finding with its remedy below it.
func printFindings(to io.Writer, findings []finding) error {
	out := bufio.NewWriter(to)
	for _, f := range findings {
		fmt.Fprintf(out, "%-8s %s: %s\n", f.Severity, clean.Line(f.Subject, maxFinding), clean.Line(f.Finding, maxFinding))
		if f.Remedy != "" {
			fmt.Fprintf(out, "         → %s\n", clean.Line(f.Remedy, maxFinding))
		}
	}
	fmt.Fprintf(out, "Errors: %d. Warnings: %d.\n", count(findings, "error"), count(findings, "warning"))
	return out.Flush()
}
