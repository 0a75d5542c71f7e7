package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// verdict is a check's error that is not a failure.
type verdict struct{ result, text string }

func (v verdict) Error() string { return v.text }

// line reports a result, without secrets.
func (v *verification) line(result, what, figure, remedy string) {
	v.counts[result]++
	if v.title != "" {
		fmt.Printf("\n%s\n", v.title)
		fmt.Fprintf(&v.report, "\n## %s\n\n| result | check | figure | what to do |\n|---|---|---|---|\n", v.title)
		v.title = ""
	}
	hide := []string{"\n", " ", "|", "¦"}
	for _, secret := range []string{v.key, v.OpenAIKey, v.JWTSecret, v.password, v.token, v.DatabaseURL, passwordOf(v.DatabaseURL)} {
		if secret != "" {
			hide = append(hide, secret, "•••")
		}
	}
	hidden := strings.NewReplacer(hide...)
	figure, remedy = hidden.Replace(figure), hidden.Replace(remedy)
	fmt.Fprintf(&v.report, "| %s | %s | %s | %s |\n", result, what, figure, remedy)
	if remedy != "" {
		remedy = "  — " + remedy
	}
	fmt.Printf("%-8s %-30s %s%s\n", result, what, figure, remedy)
}

// check runs a check and reports whether it did not fail. remedy is what to do if it did. After an
// interruption nothing more is checked.
func (v *verification) check(ctx context.Context, what, remedy string, run func() (figure string, err error)) bool {
	if ctx.Err() != nil {
		return false
	}
	figure, err := run()
	if ctx.Err() != nil {
		return false
	}
	result := "ok"
	if said := (verdict{}); errors.As(err, &said) {
		result = said.result
	} else if err != nil {
		result = "FAILED"
	}
	if err != nil {
		figure = strings.TrimSpace(fmt.Sprintf("%s %.500v", figure, err))
	}
	if result == "ok" || result == "skipped" {
		remedy = ""
	}
	v.line(result, what, figure, remedy)
	return result != "FAILED"
}

// run runs a program and returns what it prints. Its error ends with the end of its messages.
func (v *verification) run(ctx context.Context, setting, program string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Env = v.Folder, append(command.Environ(), setting)
	var messages bytes.Buffer
	command.Stderr = &messages
	printed, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, messages.Bytes()[max(0, messages.Len()-400):])
	}
	return printed, err
}

func passwordOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

var verifyClient = &http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// call sends a body as JSON, if there is one, and decodes the response, if it is wanted. It returns
// the response even if its status is an error, an empty one if there is none. Supabase also wants a
// key for each request.
func (v *verification) call(ctx context.Context, method, address, token string, body, wanted any) (*http.Response, error) {
	none := &http.Response{}
	sent, err := json.Marshal(body)
	if err != nil {
		return none, err
	}
	if body == nil {
		sent = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(sent))
	if err != nil {
		return none, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "count=exact")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if strings.HasPrefix(address, v.SupabaseURL+"/") {
		request.Header.Set("apikey", v.key)
	}
	response, err := verifyClient.Do(request)
	if err != nil {
		return none, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %.300s", response.StatusCode, text)
	}
	if err == nil && wanted != nil {
		err = json.Unmarshal(text, wanted)
	}
	return response, err
}

// rest calls PostgREST, and api the service: both as the service.
func (v *verification) rest(ctx context.Context, method, path string, body, wanted any) (*http.Response, error) {
	return v.call(ctx, method, v.SupabaseURL+"/rest/v1/"+path, v.key, body, wanted)
}

func (v *verification) api(ctx context.Context, path string, body, wanted any) error {
	method := http.MethodPost
	if body == nil {
		method = http.MethodGet
	}
	_, err := v.call(ctx, method, v.Model.ServiceURL+path, v.key, body, wanted)
	return err
}
