package openai

import (
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// An empty account is known in every form that providers give it, and asked once; a rate limit, and
// a refused text that speaks of money, are not one.
func TestEmptyAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   fault.Reason
	}{
		"OpenAI":       {429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, fault.ModelQuota},
		"inactive":     {429, `{"error":{"message":"Your account is not active, please check your billing details on our website.","type":"billing_not_active","code":"billing_not_active"}}`, fault.ModelQuota},
		"hard limit":   {400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","code":"billing_hard_limit_reached"}}`, fault.ModelQuota},
		"Anthropic":    {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, fault.ModelQuota},
		"DeepSeek":     {402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, fault.ModelQuota},
		"OpenRouter":   {402, `{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens."}}`, fault.ModelQuota},
		"a bare 402":   {402, ``, fault.ModelQuota},
		"Hugging Face": {402, `{"error":"You have exceeded your monthly included credits for Inference Providers."}`, fault.ModelQuota},
		"xAI":          {403, `{"code":"The caller does not have permission","error":"Your newly created teams doesn't have any credits yet. You can purchase credits."}`, fault.ModelQuota},
		"xAI's limit":  {429, `{"code":"Some resource has been exhausted","error":"Your team has either used all available credits or reached its monthly spending limit."}`, fault.ModelQuota},
		"DashScope":    {400, `{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}`, fault.ModelQuota},
		"Moonshot":     {429, `{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`, fault.ModelQuota},
		"SiliconFlow":  {403, `{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`, fault.ModelQuota},
		"Zhipu":        {429, `{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试。"}}`, fault.ModelQuota},
		"Fireworks":    {412, `{"error":{"message":"Account is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices."}}`, fault.ModelQuota},
		"LiteLLM":      {400, `{"error":{"message":"Budget has been exceeded! Current cost: 12.1, Max budget: 10.0","type":"budget_exceeded","code":"400"}}`, fault.ModelQuota},
		"status 200":   {200, `{"error":{"message":"Insufficient credits","code":402}}`, fault.ModelQuota},
		"200, no code": {200, `{"error":{"message":"insufficient balance"}}`, fault.ModelQuota},
		"key":          {401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, fault.ModelKey},
		"no right":     {403, `{"error":{"message":"Your key does not have access to this model"}}`, fault.ModelKey},
		"rate limit":   {429, `{"error":{"message":"Rate limit reached for requests. You can increase your limit by adding a payment method at https://example.com/account/billing.","code":"rate_limit_exceeded"}}`, fault.ModelLimited},
		"by tokens":    {429, `{"error":{"message":"Rate limit exceeded: free-models-per-min","code":429}}`, fault.ModelLimited},
		"its text":     {422, `{"detail":[{"msg":"refused","input":"Customers say: insufficient balance"}]}`, ""},
		"too long":     {400, `{"error":{"message":"maximum context length exceeded","code":"context_length_exceeded"}}`, ""},
	} {
		client, asked := counting(t, say(c.status, c.body), Config{MaxRetries: 2})
		_, _, err := client.Embed(t.Context(), "m", []string{"a"})
		failure, _ := errors.AsType[*fault.Error](err)
		isAccount := c.want == fault.ModelQuota || c.want == fault.ModelKey
		if failure.Reason != c.want || isAccount && (failure.RetryAfter != accountPause || asked.Load() != 1) || (failure.Code == fault.Unavailable) != (c.want == fault.ModelQuota || c.want == fault.ModelLimited) {
			t.Errorf("%s: after %d requests %+v", name, asked.Load(), failure)
		}
	}
}

// While an account is empty, one call after each pause finds out whether it still is; all others,
// and the readiness, say why they fail at once.
func TestCircuitOfAnEmptyAccount(t *testing.T) {
	t.Parallel()
	var isFilled atomic.Bool
	account := func(pause time.Duration) (ask func() error, client *Client, asked *atomic.Int64) {
		client, asked = counting(t, func(w http.ResponseWriter, r *http.Request) {
			if !isFilled.Load() {
				say(402, `{}`)(w, r)
				return
			}
			say(200, `{"choices":[{"message":{"content":"So."},"finish_reason":"stop"}]}`)(w, r)
		}, Config{CircuitFailures: 5, CircuitPause: pause})
		return func() error {
			_, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1})
			return err
		}, client, asked
	}
	ask, client, asked := account(time.Hour)
	for range 3 {
		failure, _ := errors.AsType[*fault.Error](ask())
		if failure == nil || failure.Reason != fault.ModelQuota || failure.RetryAfter <= 0 {
			t.Errorf("the error is %v", failure)
		}
	}
	if open := client.OpenCircuits(); asked.Load() != 1 || !slices.Equal(open, []string{"chat: The model provider's quota is used up."}) {
		t.Errorf("after %d requests %q are open", asked.Load(), open)
	}
	ask, client, _ = account(time.Millisecond)
	if ask() == nil {
		t.Error("it has an answer")
	}
	isFilled.Store(true)
	for end := time.Now().Add(time.Minute); ask() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not go on")
		}
	}
	if open := client.OpenCircuits(); open != nil {
		t.Errorf("%q are open", open)
	}
}
