// Package turn reads how a turn of a conversation goes on: by its words alone, in the languages that
// are asked in most. It knows no tickets and no models.
package turn

import (
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

// The words that say how a turn goes on, in the languages that are asked in most. Of others only
// short turns go on.
var (
	// replies name nothing: answers, requests for more, courtesy, questions and auxiliaries.
	replies = wordsIn(`yes yeah yep yup no nope ok okay sure fine great good nice cool perfect right exactly correct alright agreed please thanks thank cheers go ahead on continue proceed keep going more further again next tell show give explain elaborate
		describe expand clarify say know see want need like would could can should will shall may might must let lets do does did done is are was were be been being have has had i me my you your we us our a an the to of for in at by with from as into about up out so
		then now well just also too else and or but if not any some all other detail details detailed example examples how what when where who whom whose why which long much many really mean means anything something everything sounds think bit little quick short there hear deeper talk talking hm hmm oh ah wow interesting s t d m re ve ll am
		ja jo es dit jawohl nein doch gut gerne gern bitte danke weiter mach fahr fort mehr erzähl erzähle erkläre sag zeig genauer ausführlicher einzelheiten noch einmal dazu und oder aber warum wieso weshalb wann wer wie wo was wurde wird ist war hat mir uns ich der die das den dem ein eine einen auch na klar genau natürlich los darüber
		oui non si merci svp plaît plait vas allez continue continuez plus encore dis dites expliquez explique raconte moi nous détails et ou mais pourquoi quand qui quoi comment où est a été de la le les des du un une alors ensuite bien sûr accord d l c s stp vous te
		sí no por favor gracias sigue siga continúa continúe más mas cuéntame dime explica detalles y o pero qué que quién quien cuándo cuando cómo como dónde donde es fue ha sido de el los las un una vale claro bueno adelante me sobre
		sì certo grazie prego continua vai avanti più ancora dimmi raccontami spiega dettagli e ma perché chi quando come dove è stato di il lo gli i dei per favore va bene
		sim não obrigado obrigada continue continua siga mais conte explique diga detalhes por que quem quando como onde é foi da do os as um uma favor
		nee graag alsjeblieft alstublieft dank bedankt ga door verder meer vertel leg uit details en of maar waarom wie wat waar wanneer hoe is was het de een goed prima er over
		tak nie proszę dziękuję dalej więcej opowiedz i a ale dlaczego kto kiedy jak gdzie ano ne prosím děkuji pokračuj dál víc více proč igen nem kérem köszönöm folytasd tovább többet kyllä joo ei kiitos jatka lisää evet hayır lütfen teşekkürler devam et daha fazla
		да нет пожалуйста спасибо продолжай продолжайте дальше ещё еще больше подробнее расскажи объясни и а но почему кто когда как где что был была было так хорошо так хорошо давай мне об о tack snälla fortsätt mer nej tak venligst fortsæt mere takk fortsett ναι όχι ευχαριστώ συνέχισε نعم لا شكرا أكمل المزيد כן לא תודה המשך עוד हाँ नहीं धन्यवाद जारी`)
	// points stand for what was said.
	points = wordsIn(`it its itself this these those they them their theirs he him his she her hers former latter
		ihn ihm ihr dies diese dieser dieses diesem diesen jener davon damit dafür daran deren dessen ça cela ceci cette ces cet celui celle ceux lui leur eso esto ese esa esos esas este esta estos estas aquello su lo
		ciò questo questa questi quello quella isso isto esse essa este esta ele ela dele dela deze daarvan daarvoor hij hem haar это этого этот эта эти этой он она они его её ее их jego jej`)
	// parts are asked for of what was said, and are none of their own.
	parts = wordsIn(`status state assignee owner reporter author priority due deadline date day version release released deployed shipped merged resolved closed created updated reported assigned happened changed affected caused cause reason root fix fixed solved solution resolution
		workaround impact effect summary reviewer reviewed comment comments step steps result outcome take took taken summarize summarise translate shorten shorter longer simpler english german french spanish list table bullets patch one ones first second third last latest half rest
		veröffentlicht behoben gelöst geschlossen erstellt gemeldet zuständig ursache grund lösung status publié corrigé résolu fermé cause raison solution publicado corregido resuelto cerrado causa razón solución rilasciato risolto causa soluzione lançado resolvido uitgebracht opgelost oorzaak oplossing`)
	// joins begin a turn that goes on, and places a short one.
	joins  = regexp.MustCompile(`(?i)^[^\pL\pN]*(?:and|or|but|only|except|what about|how about|und|oder|aber|et|mais|y|pero|e|ma|mas|maar|и|а|но)[\s,]`)
	places = regexp.MustCompile(`(?i)^[^\pL\pN]*(?:for|in|on|with|without|from|of|by|für|bei|mit|ohne|pour|dans|avec|sans|para|con|sin|per|en|voor|для|в)\s`)
	// idle words mean nothing by "it".
	idle = regexp.MustCompile(`(?i)\b(?:is|was|does|did|will|would) it (?:not )?(?:possible|true|safe|ok|okay|allowed|necessary|normal|worth|take|help|work if|matter)\b`)
	// ends follow "that" where it stands alone.
	ends = wordsIn(`again too please now then and or for to in on with before after yet more`)
	// of scripts without spaces, where particles may stand between.
	repliesUnspaced = regexp.MustCompile(`はい|うん|もう少し|おねがい|嗯|ええ|いいえ|お?願いします|続けて|続き|もっと|詳しく|教えて|説明して|ください|下さい|ありがとう(?:ございます)?|なぜ|どうして|どう|いつ|誰|何|ですか|ますか|[をはがのにでともかよね]|是的?|好的?|对|對|不|请|請|继续|繼續|谢谢|謝謝|更多|详细|詳細|一点|一些|说明|說明|说|告诉我|告訴我|多说|为什么|為什麼|怎么|什么|时候|哪|谁|然后|[呢吗嗎吧的了啊]|네|예|아니요|계속|해\s?(?:줘|주세요)?|더|자세히|알려\s?(?:줘|주세요)?|감사합니다|부탁(?:해요|합니다|드립니다)?|왜|언제|누가|어떻게`)
	pointsUnspaced  = regexp.MustCompile(`これ|それ|あれ|この|その|あの|这|那|這|它|其|他|她|이것|그것|그거|이거`)
)

func wordsIn(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text) {
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
