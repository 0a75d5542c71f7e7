package main

import "testing"

// Changing a setting that affects responses makes the earlier cache entries unreachable.
func TestSettingsOfResults(t *testing.T) {
	t.Parallel()
	seen := map[string]Config{}
	for _, c := range []Config{
		{}, {RESTURL: "a"}, {OpenAIBaseURL: "a"}, {EmbeddingModel: "a"}, {ChatModel: "a"}, {VectorWeight: 1}, {KeywordWeight: 1}, {Fusion: "a"}, {ContextTokens: 1},
	} {
		settings, err := settingsOfResults(c)
		if err != nil {
			t.Fatal(err)
		}
		if other, is := seen[settings]; is {
			t.Errorf("%+v has the same cache key as %+v", c, other)
		}
		seen[settings] = c
		if again, _ := settingsOfResults(c); again != settings {
			t.Errorf("the cache key of %+v changes", c)
		}
	}
}
