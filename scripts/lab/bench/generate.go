package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// seed makes the collection the same in every run.
const seed = 20_260_101

// longTicket is a ticket with so many chunks that it could crowd out all others.
const (
	longTicket = 7
	longChunks = 600
)

// statuses and their shares of the tickets.
var statuses = []struct {
	name  string
	share float64
}{{"Done", 0.5}, {"Open", 0.25}, {"In progress", 0.1}, {"Review", 0.089}, {"Blocked", 0.05}, {"Waiting", 0.01}, {"Parked", 0.001}}

// projectShares are the projects' shares of the tickets: some large, many small. Projects with a
// single ticket follow.
var projectShares = func() (shares []float64) {
	shares = append(shares, 0.5, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.01, 0.01, 0.01)
	for range 10 {
		shares = append(shares, 0.001)
	}
	for range 40 {
		shares = append(shares, 0.00125)
	}
	return shares
}()

const singles = 5

// Collection is a set of generated tickets. Each is generated on request, deterministically.
type Collection struct {
	chunks   []int // of each ticket's own text
	comments []int // of each ticket
}

// Ticket is a generated ticket, already split into chunks. A comment is one chunk. Ids start at 1.
type Ticket struct {
	ID, Project, Status int
	Name, Description   string
	Chunks              []string // of its own text; the first begins with the name
	Comments            []string
	main, side          int // topics
}

// Key returns the ticket's external key.
func (t Ticket) Key() string { return fmt.Sprintf("B%d-%d", t.Project, t.ID) }

// WithChunks returns the collection with this many chunks: of each ticket 1.4 (of one 600) and four
// comments.
func WithChunks(total int) Collection {
	var c Collection
	for left := total; left > 0; {
		i := len(c.chunks)
		own := min(left, chunksOf(i, min(longChunks, total/10)))
		remarks := min(left-own, commentsOf(i))
		c.chunks, c.comments = append(c.chunks, own), append(c.comments, remarks)
		left -= own + remarks
	}
	return c
}

// chunksOf returns the number of chunks of a ticket.
func chunksOf(ticket, long int) int {
	random := rand.New(rand.NewPCG(seed+1, uint64(ticket)))
	switch kind := random.Float64(); {
	case ticket == longTicket:
		return max(long, 1)
	case kind < 0.8:
		return 1
	case kind < 0.92:
		return 2
	case kind < 0.97:
		return 3
	default:
		return 4 + random.IntN(5)
	}
}

// commentsOf returns the number of comments of a ticket: four on average, of one in five none.
func commentsOf(ticket int) int {
	return int(4.5 * rand.New(rand.NewPCG(seed+6, uint64(ticket))).ExpFloat64())
}

// Tickets returns the number of tickets.
func (c Collection) Tickets() int { return len(c.chunks) }

// Comments returns the number of comments.
func (c Collection) Comments() int { return sum(c.comments) }

// Chunks returns the number of chunks, those of comments included.
func (c Collection) Chunks() int { return sum(c.chunks) + sum(c.comments) }

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// Ticket generates ticket i, from 0.
func (c Collection) Ticket(i int) Ticket {
	random := rand.New(rand.NewPCG(seed+2, uint64(i)))
	t := Ticket{ID: i + 1, Project: place(i, random.Float64()) + 1, Status: 1 + pickShare(random.Float64(), func(k int) float64 { return statuses[k].share }, len(statuses))}
	about := topicsOf(t.Project)
	t.main = about[int(float64(len(about))*math.Pow(random.Float64(), 2))]
	t.side = about[random.IntN(len(about))]
	t.Name = words().text(random, t.main, t.side, 3+random.IntN(7))
	body := make([]string, c.chunks[i])
	for k := range body {
		length := 180
		if len(body) == 1 {
			length = min(400, int(math.Exp(4+0.7*random.NormFloat64()))+8)
		}
		body[k] = words().text(random, t.main, t.side, length)
	}
	t.Description = strings.Join(body, "\n\n")
	body[0] = t.Name + "\n\n" + body[0]
	t.Chunks = body
	for range c.comments[i] {
		t.Comments = append(t.Comments, words().text(random, t.main, t.side, min(200, int(math.Exp(3+0.8*random.NormFloat64()))+2)))
	}
	return t
}

// place returns the project of a ticket, from 0. The tickets after the long one each have a project
// of their own.
func place(i int, at float64) int {
	if alone := i - longTicket - 1; alone >= 0 && alone < singles {
		return len(projectShares) + alone
	}
	return pickShare(at, func(k int) float64 { return projectShares[k] }, len(projectShares))
}

func pickShare(at float64, share func(int) float64, n int) int {
	for k := range n {
		if at -= share(k); at < 0 {
			return k
		}
	}
	return n - 1
}

// discusses reports whether tickets of a project (from 1) can have a topic.
func discusses(project, topic int) bool {
	share := 0.15
	if project == 1 {
		share = 0.6
	}
	return topic == project%topics || rand.New(rand.NewPCG(seed+uint64(project), uint64(topic))).Float64() < share
}

func topicsOf(project int) (about []int) {
	for topic := range topics {
		if discusses(project, topic) {
			about = append(about, topic)
		}
	}
	return about
}

// Query generates query i, of 2 to 9 words: those of some ticket, mostly of its name, and others on
// its topic.
func (c Collection) Query(i int) string {
	random := rand.New(rand.NewPCG(seed+3, uint64(i)))
	return c.ask(random, random.IntN(len(c.chunks)))
}

// QueryFor generates a query for a certain ticket, by index.
func (c Collection) QueryFor(ticket, i int) string {
	return c.ask(rand.New(rand.NewPCG(seed+4, uint64(i))), ticket)
}

func (c Collection) ask(random *rand.Rand, ticket int) string {
	t := c.Ticket(ticket)
	name, body := strings.Fields(t.Name), strings.Fields(t.Chunks[random.IntN(len(t.Chunks))])
	asked := make([]string, 2+random.IntN(8))
	for k := range asked {
		switch kind := random.Float64(); {
		case kind < 0.4:
			asked[k] = name[random.IntN(len(name))]
		case kind < 0.6:
			asked[k] = body[random.IntN(len(body))]
		default:
			asked[k] = words().words[words().draw(random, t.main, t.side)]
		}
	}
	return strings.Join(asked, " ")
}

// tokens estimates the number of tokens of a text.
func tokens(text string) int { return max(1, utf8.RuneCountInString(text)/4) }
