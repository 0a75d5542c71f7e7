// Package turn reads how a turn of a conversation goes on: by its words alone, in the languages
// that are asked in most. It knows no tickets and no models.
package turn

import (
	"embed"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Turn is how a turn goes on.
type Turn struct {
	HasWords bool // of its own, unlike "yes, please", "go on" or "why?"
	Points   bool // to something that was said, as "it" does
	Alone    bool // it is about something of its own
}

//go:embed *.txt
var lists embed.FS

// The words that say how a turn goes on. Of other languages only short turns go on.
var (
	replies = wordsIn("replies") // name nothing: answers, requests for more, courtesy, questions, auxiliaries
	points  = wordsIn("points")  // stand for what was said
	parts   = wordsIn("parts")   // are asked for of what was said, and are no topic
	ends    = wordsIn("ends")    // follow "that" where it stands alone
	// joins begin a turn that goes on, and places a short one.
	joins  = regexp.MustCompile(`(?i)^[^\pL\pN]*(?:and|or|but|only|except|what about|how about|und|oder|aber|et|mais|y|pero|e|ma|mas|maar|и|а|но)[\s,]`)
	places = regexp.MustCompile(`(?i)^[^\pL\pN]*(?:for|in|on|with|without|from|of|by|für|bei|mit|ohne|pour|dans|avec|sans|para|con|sin|per|en|voor|для|в)\s`)
	// idle words mean nothing by "it".
	idle = regexp.MustCompile(`(?i)\b(?:is|was|does|did|will|would) it (?:not )?(?:possible|true|safe|ok|okay|allowed|necessary|normal|worth|take|help|work if|matter)\b`)
	// of scripts without spaces, where particles may stand between.
	repliesUnspaced = regexp.MustCompile(`はい|うん|もう少し|おねがい|嗯|ええ|いいえ|お?願いします|続けて|続き|もっと|詳しく|教えて|説明して|ください|下さい|ありがとう(?:ございます)?|なぜ|どうして|どう|いつ|誰|何|ですか|ますか|[をはがのにでともかよね]|是的?|好的?|对|對|不|请|請|继续|繼續|谢谢|謝謝|更多|详细|詳細|一点|一些|说明|說明|说|告诉我|告訴我|多说|为什么|為什麼|怎么|什么|时候|哪|谁|然后|[呢吗嗎吧的了啊]|네|예|아니요|계속|해\s?(?:줘|주세요)?|더|자세히|알려\s?(?:줘|주세요)?|감사합니다|부탁(?:해요|합니다|드립니다)?|왜|언제|누가|어떻게`)
	pointsUnspaced  = regexp.MustCompile(`これ|それ|あれ|この|その|あの|这|那|這|它|其|他|她|이것|그것|그거|이거`)
)

func wordsIn(list string) map[string]bool {
	text, _ := lists.ReadFile(list + ".txt")
	words := map[string]bool{}
	for _, word := range strings.Fields(string(text)) {
		words[word] = true
	}
	return words
}

// Read reads a turn that is not the first.
func Read(text string) (t Turn) {
	lower := idle.ReplaceAllString(strings.ToLower(text), " ")
	t.Points = pointsUnspaced.MatchString(lower)
	lower = pointsUnspaced.ReplaceAllString(repliesUnspaced.ReplaceAllString(lower, " "), " ")
	words := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '_' })
	size, own := len(words), 0 // and those that are a topic
	for i, word := range words {
		if first, _ := utf8.DecodeRuneInString(word); unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			size += utf8.RuneCountInString(word)
		}
		switch {
		case word == "that": // but "the code that charges"
			t.Points = t.Points || i == 0 || i == len(words)-1 || replies[words[i-1]] || ends[words[i+1]]
		case points[word]:
			t.Points = true
		case parts[word]:
			t.HasWords = true
		case !replies[word]:
			own++
		}
	}
	t.HasWords = t.HasWords || own > 0
	t.Alone = own > 0 && !t.Points && size > 2 && !joins.MatchString(text) && !(size <= 5 && places.MatchString(text))
	return t
}
