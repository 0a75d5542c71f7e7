package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// refusal is a provider's error, whatever form its body has.
type refusal struct {
	status int
	code   string
	text   string        // all else that it says, in one line
	after  time.Duration // Retry-After; 0 if there is none
}

// Error shows the beginning of the text, for the log.
func (r *refusal) Error() string {
	return fmt.Sprintf("the model provider answered %d %s: %.300s", r.status, r.code, r.text)
}

// What providers say in their own words.
var (
	sayTooLarge = regexp.MustCompile(`(?i)\btoo (large|long|many|big)\b|exceed|(larger|longer|greater|higher|more) than|\bat most\b|less than|\bmaximum\b|\bmax (\w+ ){0,3}(batch|tokens?|length|inputs?|size)|batch[ _]size|context[ _](length|window|size)|out of memory`)
	sayFilter   = regexp.MustCompile(`(?i)content[ _]?filter|content[ _]policy|content management policy|responsible_?ai|jailbreak|data_inspection|prohibited_content|safety[ _](system|filter|reason|rating|polic)|block_?reason|guardrail|\bmoderation\b|\bflagged\b`)
	sayLimit    = regexp.MustCompile(`(?i)rate[ _-]?limit|too many requests|resource_exhausted`)
	sayKey      = regexp.MustCompile(`(?i)api[ _-]?key[ _](is )?(not valid|invalid|expired)|(incorrect|invalid) api[ _-]?key|no_db_connection`)
	sayQuota    = regexp.MustCompile(`(?i)insufficient[ _-]?(account[ _-])?(quota|balance|credit|fund)|(exceeded|reached|over)[ _](your|the)[ _](current[ _]quota|(\w+ ){0,3}(spend|spending|usage|credit|budget|billing)[ _]limit)|exceeded_current_quota` +
		`|(credit|balance|quota|funds?|budget)s?( balance)?( is| are| has been| have been)?( too low| insufficient| not enough| exhausted| depleted| used up| exceeded)|(out of|not enough|no( more| remaining)?|any|used (up )?(all )?(of )?(your |the |available ){0,3}) ?credits?\b` +
		`|(spend|spending|billing_hard)[ _]limit|monthly included credits|billing_not_active|account[ _](is )?not[ _]active|budget_exceeded|payment[ _]required|arrearage|overdue[- ]?payment|余额不足|欠费`)
	sayModel = regexp.MustCompile(`(?i)invalid model name|\bmodel\b.{0,80}\b(not found|not exist)|not a valid model`)
	htmlTag  = regexp.MustCompile(`(?s)<(style|script)\b.*?(</(style|script)>|\z)|<[^>]*>`)
)

// maxReason is how much of a text may say that a quota is used up: what follows may be the request.
const maxReason = 250

func (r *refusal) isQuota() bool    { return r.status == http.StatusPaymentRequired }
func (r *refusal) isLimit() bool    { return r.status == http.StatusTooManyRequests }
func (r *refusal) isTooLarge() bool { return r.status == http.StatusRequestEntityTooLarge }

// says reports whether the code or the text says something.
func (r *refusal) says(what *regexp.Regexp) bool { return what.MatchString(r.code + " " + r.text) }

// isFilter reports whether the provider's content filter refuses a prompt.
func (r *refusal) isFilter() bool {
	return (r.status == http.StatusBadRequest || r.status == http.StatusForbidden) && r.says(sayFilter)
}

// isKey reports whether the provider refuses the key.
func (r *refusal) isKey() bool {
	return (r.status == http.StatusUnauthorized || r.status == http.StatusForbidden) && !r.isFilter()
}

// isRequest reports whether the refusal is about this one request, and says nothing about others.
func (r *refusal) isRequest() bool {
	return r.status < 500 && !r.isKey() && !r.isQuota()
}

// readRefusal reads a response as an error. nil: it is none.
func readRefusal(status int, header http.Header, body []byte) *refusal {
	var said any
	if body = body[:min(len(body), maxRefusalBytes)]; json.Unmarshal(body, &said) != nil {
		said = strings.Join(strings.Fields(htmlTag.ReplaceAllString(string(body), " ")), " ")
	}
	if list, is := said.([]any); is && len(list) == 1 {
		said = list[0]
	}
	object, _ := said.(map[string]any)
	detail, _ := object["error"].(map[string]any)
	if status < 300 && !isError(object) {
		return nil
	}
	r := &refusal{status: status, text: strings.Join(texts(said), " "), after: retryAfter(header)}
	for _, value := range []any{detail["code"], detail["type"], detail["status"], object["code"], object["error_type"], object["type"], object["status"]} {
		if number, is := value.(float64); is {
			value = strconv.Itoa(int(number))
		}
		if text := strings.Join(texts(value), " "); text != strconv.Itoa(status) { // which says nothing more
			r.code = cmp.Or(r.code, text)
		}
	}
	isQuota := sayQuota.MatchString(fmt.Sprintf("%v %s %.*s", detail["type"], r.code, maxReason, r.text))
	if status < 300 { // the status is in the body, if anywhere
		r.status = http.StatusBadGateway
		if number, err := strconv.Atoi(r.code); err == nil && number >= 400 && number < 600 {
			r.status = number
		} else if r.says(sayLimit) || isQuota {
			r.status = http.StatusTooManyRequests
		} else if r.says(sayFilter) {
			r.status = http.StatusBadRequest
		}
	}
	switch {
	case isQuota && slices.Contains([]int{400, 401, 403, 412, 429}, r.status): // of which a wait helps with none
		r.status = http.StatusPaymentRequired
	case r.status == http.StatusForbidden && object == nil && htmlTag.Match(body):
		r.status = http.StatusBadGateway // a proxy's page says nothing about the key
	case r.status >= 500 && r.says(sayTooLarge), r.status == http.StatusTooManyRequests && strings.Contains(strings.ToLower(r.text), "request too large"):
		r.status = http.StatusRequestEntityTooLarge // no wait or repetition makes it smaller
	case r.status == http.StatusBadRequest && r.says(sayKey):
		r.status = http.StatusUnauthorized
	case r.status == http.StatusBadRequest && r.says(sayModel):
		r.status = http.StatusNotFound
	}
	return r
}

// isError reports whether an object that came with a good status is an error.
func isError(object map[string]any) bool {
	switch object["error"] {
	case nil, "", false:
		return object["object"] == "error" || object["choices"] == nil && object["data"] == nil && (object["detail"] != nil || object["message"] != nil || object["msg"] != nil || object["errors"] != nil)
	}
	return true
}

// unsaid are members of an error that say nothing more, or repeat the request.
var unsaid = []string{"code", "ctx", "id", "input", "message", "msg", "object", "request_id", "status", "type", "error_type", "url"}

// texts appends the texts within a JSON value to all, messages first.
func texts(value any, all ...string) []string {
	switch value := value.(type) {
	case string:
		return append(all, strings.Join(strings.Fields(value), " "))
	case []any:
		for _, member := range value {
			all = texts(member, all...)
		}
	case map[string]any:
		all = texts(value["msg"], texts(value["message"], all...)...)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !slices.Contains(unsaid, name) {
				all = texts(value[name], all...)
			}
		}
	}
	return all
}

// retryAfter reads how long to wait: milliseconds, seconds or a date.
func retryAfter(header http.Header) time.Duration {
	for name, unit := range map[string]time.Duration{"Retry-After-Ms": time.Millisecond, "Retry-After": time.Second} {
		value := header.Get(name)
		if number, err := strconv.ParseFloat(value, 64); err == nil && number > 0 && number < math.MaxInt32 {
			return time.Duration(number * float64(unit))
		} else if at, err := http.ParseTime(value); err == nil {
			return max(0, time.Until(at))
		}
	}
	return 0
}
