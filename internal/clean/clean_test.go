package clean

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Every character that DerivedCoreProperties.txt lists as ignorable is removed, except joiners and
// emoji selectors that have an effect.
func TestIgnorable(t *testing.T) {
	t.Parallel()
	count := 0
	for _, span := range [][2]rune{{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
		{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3},
		{0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}} {
		for r := span[0]; r <= span[1]; r++ {
			count++
			if got := Printable("a" + string(r) + "b"); got != "ab" {
				t.Errorf("%U became %q", r, got)
			}
		}
	}
	if count != 4174 {
		t.Errorf("%d are checked, the standard has 4174", count)
	}
	for r := rune(0xA0); r <= utf8.MaxRune; r++ {
		if ignorable(r) {
			count--
		}
	}
	if count != -3 { // the annotations U+FFF9 to U+FFFB
		t.Errorf("%d more are ignorable than should be", -3-count)
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext\n":                                 "plain\ttext\n",
		"a\r\nb\x00\x07\x1b\x7f\u0080c":                 "a\nbc",
		"a\u0085b\u2028c\u2029d":                        "a\nb\nc\nd",
		"a\u2800b":                                      "a b",
		"a\U00016FE4\U0001D159\uFFFAb":                  "ab",
		"\xffa\xc3":                                     "\uFFFDa\uFFFD",
		"می\u200cخواهم क\u094d\u200dष":                  "می\u200cخواهم क\u094d\u200dष",
		"👩\u200d💻 ❤\ufe0f\u200d🔥 👍🏽":                    "👩\u200d💻 ❤\ufe0f\u200d🔥 👍🏽",
		"a\u200db\u200cc 見\u200d\u200d\u200c本 <\u200d|": "abc 見\u200d本 <|",
		"a\ufe0f ❤\ufe0f\ufe0f\ufe0e":                   "a ❤\ufe0f",
		"\u0600 12":                                     "\u0600 12", // a visible character
	} {
		if got := Printable(text); got != want {
			t.Errorf("%+q became %+q, want %+q", text, got, want)
		}
	}
	if got := Line(" a\n\u200b b\t"+strings.Repeat("ü", 50), 10); got != "a b üüüüüü" {
		t.Errorf("a line is %q", got)
	}
}

// marks of models in use, and of invented ones.
var marks = []string{
	"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|start_header_id|>", "<|eot_id|>", "<|begin_of_text|>", "<|python_tag|>", "<|eom_id|>", // ChatML, Llama 3
	"<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|return|>", "<|channel|>", "<|message|>", "<|call|>", "<|constrain|>", // Phi, Harmony
	"<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|start_of_role|>", "<|im_middle|>", "<|tool_calls_section_begin|>", "<|observation|>", "<|\"|>",
	"<｜User｜>", "<｜Assistant｜>", "<｜begin▁of▁sentence｜>", "<｜tool▁calls▁begin｜>", "<｜hy_User｜>",
	"[|system|]", "[|endofturn|]", "]~b]", "]~!b[", "[e~[",
	"<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>", "<mask>", "<sop>", "<eop>", "<image>", "<img>", "<think>", "</think>", "<tool_call>", "</tool_call>",
	"<tool_response>", "<tools>", "<function=answer>", "<parameter=text>", "<invoke name=\"answer\">", "<start_of_turn>", "<end_of_turn>", "<start_of_image>",
	"<unused12>", "<extra_id_0>", "<reserved_106>", "<SPECIAL_12>", "<seed:think>", "<seed:bos>", "<minimax:tool_call>", "<fim_prefix>", "<0x0A>", "<AI>", "<用户>",
	"<system>", "<user>", "<assistant>", "<THINK>", "<sop/>", "<tool_call name=\"x\" >",
	"[INST]", "[/INST]", "[inst]", "[/Inst]", "[TOOL_CALLS]", "[/TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[THINK]",
	"[/THINK]", "[ARGS]", "[gMASK]", "[sMASK]", "[MASK]", "[CLS]", "[SEP]", "<<SYS>>", "<</SYS>>", "<|>", "<||>",
}

// A mark is broken wherever it occurs, and if invisible characters disguise it.
func TestMarks(t *testing.T) {
	t.Parallel()
	for _, mark := range marks {
		for _, around := range []string{"%s", "a%sb", "%[1]s%[1]s", "<%s>", "[%s]", "|%s|", "see %s\nSay"} {
			text := fmt.Sprintf(around, mark)
			got := Prompt(text)
			if strings.Contains(got, mark) || strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(text, " ", "") {
				t.Errorf("%q became %q", text, got)
			}
		}
		runes := []rune(mark)
		for _, hidden := range []string{"\u200b", "\u200d", "\ufe0f", "\u3164", "\U000E0041", "\u034f"} {
			if got := Prompt(string(runes[:1]) + hidden + string(runes[1:])); strings.Contains(got, mark) {
				t.Errorf("%q with %U became %q", mark, []rune(hidden), got)
			}
		}
	}
}

// Ordinary brackets in tickets are unchanged.
func TestNoMarks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"List<String> Map<K, V> Vec<u8> Option<Box<T>> vector<int> Array<2> Result<(), HashMap<A, B>>",
		"<div class=\"a\"><p>Text</p><br/></div> <a href=\"https://x.example\">x</a> <H1> </TABLE> <!-- no --> <?xml version=\"1.0\"?>",
		"rows[0] rows[i] rows[index] [x] [ ] [TX-400] [docs](https://x.example) #[test] &a[..] vec![1; n] [my_index]",
		"a < b && c > d, a << 2 >> 1, x -> y => z <= w >= v, |x| x + 1, a || b, | a | b |, ~[T], <https://x.example/a>, <lena@x.example>, <stdio.h>",
		"« Bonjour », «слово» 《红楼梦》 ‹ oui ›", ">>QUESTION<<",
		"<❘User❘> ＜|im_start|＞ <¦user¦> 《｜用户｜》 ［｜user｜］ ＜tool_call＞ ‹think› ⟨s⟩ ［INST］", // no tokenizer has look-alikes "", "a", "<", "[", "|", "<|"[:1], "</", "[/", "<a", "[A",
	} {
		if got := Prompt(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Prompt is idempotent, and to visible characters it only adds blanks.
func TestPromptTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(marks), rapid.SampledFrom([]string{"<", ">", "[", "]", "|", "/", "~", "a", "AB", " ", "\n", "｜", "\u200b", "_", "=", "\xff"}))).Draw(t, "text"), "")
		once := Prompt(text)
		if twice := Prompt(once); twice != once {
			t.Fatalf("%q became %q, and then %q", text, once, twice)
		}
		if strings.ReplaceAll(once, " ", "") != strings.ReplaceAll(Printable(text), " ", "") {
			t.Fatalf("%q became %q", text, once)
		}
	})
}

// A stored value in an answer is one line that does nothing, and an ordinary one stays as it is.
func TestValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"x\n- TX-400 Gone (Done, assigned to Mallory) [1]": "x - TX-400 Gone (Done, assigned to Mallory) (1)",
		"a\u2028b\r\nc\vd\u0085e\u202ef\u200b g\x1b[2K":    "a b cd ef g[2K",
		"[7] 【7†x】 ［7］ [^7] [Source 7] \\[7\\]":            "(7) (7†x) (7) (^7) (Source 7) (7)",
		"![i](http://evil.example/i.png) [a](//evil)":      "! [i] (http://evil.example/i.png) [a] (//evil)",
		"[a][r] [r]: http://evil.example":                  "[a] [r] [r] : http://evil.example",
		"<img src=x> </b> <!-- c --> <a:b> &#91;7&#93;":    "< img src=x> < /b> < !-- c --> < a:b> & #91;7& #93;",
		"lenses [1":     "lenses (1",
		"2] of [Source": "2) of (Source",
		"[iOS] Crash, rows[i] a < b && c > d, AT&T: 3 [x] see https://shop.example/a?b=1&c=2": "[iOS] Crash, rows[i] a < b && c > d, AT&T: 3 [x] see https://shop.example/a?b=1&c=2",
		"": "",
	} {
		if got := Value(text, 1000); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := Value(strings.Repeat("ü", 11), 10); got != strings.Repeat("ü", 9)+"…" {
		t.Errorf("a long value became %q", got)
	}
}

// No value, and no two side by side, are a citation, a line break or the start of what Markdown
// acts on.
func TestValues(t *testing.T) {
	t.Parallel()
	parts := []string{"[", "]", "(", ")", "!", "<", "/", "&#91;", "\\", "1", "7", ",", "-", " ", "\n", "\u2029", "\u202e", "【", "】", "†", "［", "１", "^", "source", "doc", "and", ":", "http://evil.example", "img", "a", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		value := func(name string) string {
			return Value(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, name), ""), 255)
		}
		one, other := value("one"), value("other")
		line := one + ", " + other
		if citation.MatchString(line) || active.MatchString(line) || strings.ContainsAny(line, "\r\n") || Printable(line) != line || Value(one, 255) != one {
			t.Fatalf("the values became %q", line)
		}
	})
}

func ExamplePrompt() {
	fmt.Println(Prompt("A List<String> at rows[0].<|im_start|>sys\u200btem [INST] <tool_call>"))
	// Output: A List<String> at rows[0].< |im_start| >system [ INST] < tool_call>
}
