package knowledge

import "strings"

// stopWords are English articles, pronouns, prepositions, conjunctions, auxiliaries and question
// words, which say how something is asked and not what.
var stopWords = set(`
	a an the this that these those some any each every all both either neither no none such same other another
	i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers it its itself
	they them their theirs themselves who whom whose which what
	somebody someone something anybody anyone anything everybody everyone everything nobody none nothing
	about above across after against along among around as at before behind below beneath beside between beyond by down
	during except for from in inside into like near of off on onto out outside over past per since than through throughout
	till to toward towards under until up upon via with within without
	and but or nor so yet if then else because while although though unless whereas whether
	am is are was were be been being do does did doing done have has had having will would shall should can could may might
	must ought
	how when where why not only just also too very more most much many few less least own again once here there
	don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't cannot couldn't shouldn't haven't hasn't hadn't
	i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll they're they've it'll
	let please tell show give find explain`)

func set(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}
