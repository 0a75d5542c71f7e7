package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// project is a row of list_projects.
type project struct {
	ID      int64  `json:"project_id"`
	Key     string `json:"key"`
	Tickets int    `json:"tickets"`
}

// onlyTheirs returns an error unless the projects are the user's alone.
func onlyTheirs(rows []project, err error) (string, error) {
	if err == nil && (len(rows) != 1 || rows[0].Key != verifyProject) {
		err = fmt.Errorf("the user sees %v", rows)
	}
	if err != nil {
		return "", err
	}
	return "sees " + verifyProject + " alone", nil
}

func (v *verification) tokens(ctx context.Context) {
	v.title = "Users and tokens"
	if !v.check(ctx, "user of Supabase Auth", "The key must be a secret one; enable sign-in by e-mail, without CAPTCHA (Authentication → Sign In / Providers)", func() (string, error) {
		var user struct{ ID string }
		account := map[string]any{"email": v.email, "password": v.password, "email_confirm": true}
		if _, err := v.call(ctx, http.MethodPost, v.auth+"/admin/users", v.key, account, &user); err != nil {
			return "create:", err
		}
		var rows []project
		_, err := v.rest(ctx, http.MethodGet, "projects?select=project_id&key=eq."+verifyProject, nil, &rows)
		if err != nil || len(rows) != 1 {
			return "", cmp.Or(err, errors.New("the sample is not there"))
		}
		member := []any{map[string]any{"project_id": rows[0].ID, "user_id": user.ID, "role": "viewer"}}
		if _, err := v.rest(ctx, http.MethodPost, "project_members", member, nil); err != nil {
			return "make a member:", err
		}
		var session struct {
			Token string `json:"access_token"`
		}
		_, err = v.call(ctx, http.MethodPost, v.auth+"/token?grant_type=password", "", account, &session)
		v.token = session.Token
		return "created, member of one project, signed in", err
	}) {
		return
	}
	v.check(ctx, "key of the token", "Create a signing key (Settings → JWT Keys), or set SUPABASE_JWT_SECRET", func() (string, error) {
		token, _, err := jwt.NewParser().ParseUnverified(v.token, jwt.MapClaims{})
		if err != nil {
			return "", err
		}
		if token.Method.Alg() == "HS256" {
			return "", verdict{"warning", "HS256: the legacy secret, not a key of the key set"}
		}
		var set struct{ Keys []map[string]any }
		_, err = v.call(ctx, http.MethodGet, v.auth+"/.well-known/jwks.json", "", nil, &set)
		if err == nil && !slices.ContainsFunc(set.Keys, func(key map[string]any) bool { return key["kid"] == token.Header["kid"] }) {
			err = errors.New("is not in the key set")
		}
		return token.Method.Alg(), err
	})
	v.check(ctx, "service with the token", "Compare the token's issuer: docs/access.md#tokens", func() (string, error) {
		var list struct{ Results []project }
		_, err := v.call(ctx, http.MethodGet, v.Model.ServiceURL+"/api/projects", v.token, nil, &list)
		return onlyTheirs(list.Results, err)
	})
	v.check(ctx, "PostgREST with the token", "Row-level security does not hold: run scripts/check, and report it", func() (string, error) {
		var rows []project
		_, err := v.call(ctx, http.MethodGet, v.SupabaseURL+"/rest/v1/rpc/list_projects", v.token, nil, &rows)
		return onlyTheirs(rows, err)
	})
	v.check(ctx, "forged and missing token", "Report it: the service must refuse them", func() (string, error) {
		at := strings.LastIndexByte(v.token, '.') + 1
		for _, token := range []string{v.token[:at] + strings.Repeat("A", len(v.token)-at), ""} {
			if response, err := v.call(ctx, http.MethodGet, v.Model.ServiceURL+"/api/projects", token, nil, nil); response.StatusCode != http.StatusUnauthorized {
				return "", fmt.Errorf("status %d instead of 401: %v", response.StatusCode, err)
			}
		}
		return "401", nil
	})
}

var resourceMetadata = regexp.MustCompile(`resource_metadata="([^"]+)"`)

func (v *verification) tools(ctx context.Context) {
	v.title = "Tools for assistants"
	address := v.Model.ServiceURL + "/mcp"
	message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "list_projects", "arguments": map[string]any{}}}
	v.check(ctx, "/mcp without a token", "Report it: clients find Supabase Auth by this", func() (string, error) {
		response, err := v.call(ctx, http.MethodPost, address, "", message, nil)
		named := resourceMetadata.FindStringSubmatch(response.Header.Get("WWW-Authenticate"))
		if response.StatusCode != http.StatusUnauthorized || named == nil {
			return "", fmt.Errorf("no 401 that names metadata: %v", err)
		}
		var metadata struct {
			Servers []string `json:"authorization_servers"`
		}
		_, err = v.call(ctx, http.MethodGet, named[1], "", nil, &metadata)
		if err == nil && !slices.Equal(metadata.Servers, []string{v.auth}) {
			err = fmt.Errorf("instead of %s", v.auth)
		}
		return fmt.Sprint("401, metadata names ", metadata.Servers), err
	})
	v.check(ctx, "metadata of Supabase Auth", "Enable Authentication → OAuth Server, if clients shall sign users in", func() (string, error) {
		if _, err := v.call(ctx, http.MethodGet, v.SupabaseURL+"/.well-known/oauth-authorization-server/auth/v1", "", nil, nil); err != nil {
			return "", verdict{"warning", err.Error()}
		}
		return "reachable", nil
	})
	if v.token != "" {
		v.check(ctx, "tool with the token", "docs/mcp.md", func() (string, error) {
			var answer struct {
				Result struct {
					Content struct{ Projects []project } `json:"structuredContent"`
				}
			}
			_, err := v.call(ctx, http.MethodPost, address, v.token, message, &answer)
			return onlyTheirs(answer.Result.Content.Projects, err)
		})
	}
}
