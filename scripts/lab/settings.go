package main

import "time"

// settings are what scripts/ tell this program about the stack that they started.
type settings struct {
	Port             int    `env:"PORT"`
	ServiceURL       string `env:"SERVICE_URL"`
	DatabaseURL      string `env:"DATABASE_URL"`
	OtherDatabaseURL string `env:"OTHER_DATABASE_URL"` // with the migrations of another checkout

	JWTSecret string `env:"JWT_SECRET"`
	// PostgREST is a real one, which the gateway then serves under Supabase's path instead of itself.
	PostgREST   string `env:"POSTGREST_URL"`
	SupabaseURL string `env:"SUPABASE_URL"` // issuer of user tokens
	RESTURL     string `env:"SUPABASE_REST_URL"`
	Schema      string `env:"SUPABASE_SCHEMA" envDefault:"public"`
	Key         string `env:"SUPABASE_SERVICE_ROLE_KEY"`

	OpenAIBaseURL  string        `env:"OPENAI_BASE_URL"`
	OpenAIKey      string        `env:"OPENAI_API_KEY"`
	EmbeddingModel string        `env:"EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`
	Dimensions     int           `env:"EMBEDDING_DIMENSIONS"`
	ChatModel      string        `env:"CHAT_MODEL" envDefault:"gpt-4o-mini"`
	EmbedDelay     time.Duration `env:"MODEL_DELAY_EMBED"`
	ModelDir       string        `env:"MODEL_DIR"`     // the wheels of scripts/model; without it only words are compared
	Vectors        string        `env:"MODEL_VECTORS"` // a file that keeps the vectors of measurements
	ChatDelay      time.Duration `env:"MODEL_DELAY_CHAT"`
}
