package answer

import (
	"strings"
	"testing"
	"time"
)

const firstQuestion = "How was the double charge fixed with the idempotency key?"

// followUp is what a turn is searched for by, after a question and its answer.
func followUp(text string, before ...Message) string {
	q := Question{Text: text, Messages: append([]Message{{Role: "user", Content: firstQuestion}, {Role: "assistant", Content: "A key goes with every attempt [1]."}}, before...)}
	q.Resolve(time.Now())
	return q.Search
}

// A turn without words of its own repeats the last search, in any language.
func TestRepliesRepeatTheSearch(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"yes, please", "go on", "Tell me more!", "ok", "Sure, go ahead.", "why?", "How so?", "and then?", "Could you elaborate?", "more details please", "continue", "Thanks, and what else?", "yes", "...", "👍",
		"ja, bitte", "Mach weiter", "Erzähl mir mehr", "warum?", "oui, s'il vous plaît", "continuez", "dis-moi plus", "sí, por favor", "cuéntame más", "sigue", "sì, grazie", "sim, por favor", "ja graag", "ga door",
		"да, пожалуйста", "расскажи подробнее", "tak, proszę", "はい、お願いします", "もっと詳しく教えてください", "続けて", "好的，请继续", "为什么？", "네, 계속해 주세요", "evet, lütfen", "¿puedes continuar?", "Kannst du fortfahren?", "Peux-tu continuer ?", "puoi continuare?", "можешь продолжить?",
	} {
		if got := followUp(text); got != firstQuestion {
			t.Errorf("%q is searched for by %q", text, got)
		}
		if got := followUp(text, Message{Role: "user", Content: "go on"}, Message{Role: "assistant", Content: "It does."}); got != firstQuestion {
			t.Errorf("%q after \"go on\" is searched for by %q", text, got)
		}
	}
}

// A turn that stands alone is searched for alone.
func TestTopicsAreSearchedForAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"When does the certificate expire?", "Who fixed the login bug?", "How do refunds work in Norway?", "Which service owns the code that charges customers?", "What is the limit of the celadon kiln?", "Please tell me how backups are encrypted.",
		"What is a chargeback?", "List the open incidents of the data platform", "Is dark mode planned for Android?", "In which release was TLS enabled?",
		"Wann läuft das Zertifikat ab?", "Quand expire le certificat TLS ?", "¿Cuándo caduca el certificado?", "Quando scade il certificato?", "Когда истекает сертификат?", "証明書の有効期限はいつですか？", "证书什么时候过期？", "인증서는 언제 만료됩니까?",
		"What about TX-461?", "How do I add a user to a project?", "Is there a ticket about invoices?", "Is it possible to export invoices?", "I want to know about certificates", "E-mail bounces since Monday, why?",
		"¿Cuál es el límite de reembolsos?", "Est-ce que le mode sombre est prévu ?", "¿En qué versión llegó el modo oscuro?", "Warum dauert die Anmeldung so lange?",
	} {
		if got := followUp(text); got != text {
			t.Errorf("%q is searched for by %q", text, got)
		}
	}
}

// What refers to something keeps it, through replies, and the ticket of the last answer.
func TestFollowUpsKeepTheTopic(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"and when was that released?", "Who reported it?", "Does this affect Android customers?", "What was the root cause?", "And in Lyon?", "for Android only?", "What about refunds?", "How long did the fix take?", "Which customers were affected by that?", "Can you summarize that for me?", "Shorter please", "in German, please", "as a table",
		"Und wann wurde das veröffentlicht?", "et pour les clients allemands ?", "¿Y en Francia?", "Kunden?", "这影响安卓客户吗？", "それはいつリリースされましたか？",
	} {
		if got := followUp(text); got != firstQuestion+"\n"+text {
			t.Errorf("%q is searched for by %q", text, got)
		}
		got := followUp(text, Message{Role: "user", Content: "yes, please"}, Message{Role: "assistant", Content: "Fixed."}, Message{Role: "user", Content: "go on"}, Message{Role: "assistant", Content: "See TX-400 and TX-401."})
		if got != firstQuestion+"\nTX-400\n"+text {
			t.Errorf("after replies %q is searched for by %q", text, got)
		}
	}
	ticket := Message{Role: "assistant", Content: "That is TX-400."}
	if got := followUp("Who has it?", Message{Role: "user", Content: "Which is the oldest task?"}, ticket); got != "Which is the oldest task?\nTX-400" {
		t.Errorf("a question about it is searched for by %q", got)
	}
	if got := followUp("And when?", Message{Role: "user", Content: "When does the certificate expire?"}); strings.Contains(got, "charge") {
		t.Errorf("a new topic is forgotten: %q", got)
	}
}
