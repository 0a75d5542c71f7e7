package main

import "testing"

// Changing a setting that affects responses makes the earlier cache entries unreachable.
func TestSettingsOfResults(t *testing.T) {
	t.Parallel()
	seen := map[string]Config{}
	for _, c := range []Config{
		{}, {RESTURL: "a"}, {OpenAIBaseURL: "a"}, {EmbeddingModel: "a"}, {ChatModel: "a"}, {VectorWeight: 1}, {KeywordWeight: 1}, {Fusion: "a"},
	} {
		settings, err := settingsOfResults(c, "a")
		if err != nil {
			t.Fatal(err)
		}
		if other, is := seen[settings]; is {
			t.Errorf("%+v has the same cache key as %+v", c, other)
		}
		seen[settings] = c
		if again, _ := settingsOfResults(c, "a"); again != settings {
			t.Errorf("the cache key of %+v changes", c)
		}
		if other, _ := settingsOfResults(c, "b"); other == settings {
			t.Errorf("the cache key of %+v is the same for another revision", c)
		}
	}
}

// A build that names no revision may be of any source, so each of its processes has its own.
func TestCacheRevision(t *testing.T) {
	t.Parallel()
	if of := builtFrom(); of != "" {
		t.Fatalf("the test's own build has the revision %q", of)
	}
	if own := cacheRevision(); len(own) < 20 || own != cacheRevision() {
		t.Errorf("the process caches under %q, then %q", own, cacheRevision())
	}
}
