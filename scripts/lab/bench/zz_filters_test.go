package bench

import ("context";"os";"testing";"fmt";"strconv")

func TestF(t *testing.T) {
	u := os.Getenv("DB_A"); if u == "" { t.Skip() }
	c, err := Connect(context.Background(), u); if err != nil { t.Fatal(err) }
	n, _ := strconv.Atoi(os.Getenv("N"))
	r := Run{Connection: c, Collection: WithChunks(50000), Queries: n, Progress: func(s string) { fmt.Println(s) }}
	ts, err := r.filters(context.Background()); if err != nil { t.Fatal(err) }
	print(os.Stdout, ts)
}
