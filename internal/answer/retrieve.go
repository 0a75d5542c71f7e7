package answer

import (
	"cmp"
	"context"
	"slices"

	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// candidates is the number of chunks MMR chooses from.
const candidates = 40

// candidate is a row of one of the retrieval functions.
type candidate struct {
	Source
	search.CommentColumns
	ProjectName   string    `json:"project_name"`
	ProjectKey    string    `json:"project_key"`
	Status        *string   `json:"status"`
	Kind          string    `json:"kind"` // project, ticket, status_note, comment or document
	Tokens        int       `json:"tokens"`
	OverThreshold bool      `json:"over_threshold"`
	Named         bool      `json:"named"`        // the question names its source: a candidate whatever its similarity
	Relevance     *float64  `json:"relevance"`    // hybrid: fused score, 0 to 1; nil in a row that is not a candidate
	Similarities  []float64 `json:"similarities"` // to the preceding rows, in order
}

// sourceChunks limits the candidates of one ticket while others are available: half of the context,
// so a long ticket leaves room for others, but enough for a description, a cause and a resolution.
func sourceChunks(top int) int { return max(2, min(5, (top+1)/2)) }

// retrieve returns the rows for a question, best first.
func (a *Answerer) retrieve(ctx context.Context, db Database, q Question, model string, embedding vector.Vector) ([]candidate, error) {
	arguments := map[string]any{
		"query_embedding": embedding, "embedding_model": model, "match_threshold": q.MatchThreshold,
		"match_count": candidates,
	}
	if !q.Filters.IsZero() {
		arguments["filters"] = q.Filters
	}
	function := "retrieve_chunks"
	switch {
	case q.Corpus == Documents || q.Corpus == All && q.Filters.Nothing:
		return retrieveDocuments(ctx, db, q, model, embedding)
	case q.Filters.Nothing:
		return nil, nil
	case q.Corpus == All:
		function = "retrieve_all_chunks"
		arguments["question"] = q.Text
	case q.isHybrid():
		function = "retrieve_chunks_hybrid"
		arguments["query_text"] = q.Text
		arguments["vector_weight"], arguments["keyword_weight"], arguments["fusion"] = a.options.VectorWeight, a.options.KeywordWeight, cmp.Or(a.options.Fusion, search.RRF)
	default:
		arguments["question"] = q.Text
	}
	if q.Lambda < 1 {
		arguments["source_chunk_limit"] = sourceChunks(q.TopK)
	}
	var found []candidate
	err := db.Call(ctx, function, arguments, &found)
	return typed(found), err
}

// documentCandidates is the number of document chunks retrieved. It exceeds candidates, because a
// long document may crowd out others before thin removes its surplus.
const documentCandidates = 100

func retrieveDocuments(ctx context.Context, db Database, q Question, model string, embedding vector.Vector) ([]candidate, error) {
	short, err := embedding.Short()
	if err != nil {
		return nil, err
	}
	var found []candidate
	err = db.Call(ctx, "retrieve_document_chunks", map[string]any{
		"query_embedding": short, "embedding_model": model, "match_threshold": q.MatchThreshold, "match_count": documentCandidates,
	}, &found)
	return typed(found), err
}

// typed sets the type of each row.
func typed(found []candidate) []candidate {
	for i := range found {
		switch c := &found[i]; {
		case c.DocumentID != nil:
			c.Type = "document"
		case c.TicketID != nil:
			c.Type = "ticket"
			c.Source.Comment = c.CommentColumns.Comment()
		default:
			c.Type = "project"
		}
	}
	return found
}

// best is the highest similarity of all rows.
func best(found []candidate) *float64 {
	var best *float64
	for _, c := range found {
		if c.Similarity != nil && (best == nil || *c.Similarity > *best) {
			best = c.Similarity
		}
	}
	return best
}

// choose picks the chunks of an answer by maximal marginal relevance with the caller's lambda. It
// defines the candidates and their similarity to one another, and ensures that sources named in the
// question are chosen. With lambda 1 nothing is thinned: the caller asks for relevance only.
func choose(found []candidate, q Question) []candidate {
	var places []int // indices in found
	for i, c := range found {
		if c.Named || q.isHybrid() && c.Relevance != nil || !q.isHybrid() && c.OverThreshold {
			places = append(places, i)
		}
	}
	alike := newLikeness(found)
	if q.Lambda < 1 {
		places = thin(found, places, q, alike)
	}
	relevance := make([]float64, len(places))
	for i, place := range places {
		relevance[i] = found[place].relevance(q)
	}
	wanted, reserved := q.TopK, reserve(found, places, q.TopK)
	if len(reserved) > 0 {
		wanted = len(places) // named sources may come last
	}
	var named, others []candidate
	room := q.TopK - len(reserved)
	for _, i := range mmr(relevance, func(i, j int) float64 { return alike.of(places[i], places[j]) }, wanted, q.Lambda) {
		switch c := found[places[i]]; {
		case reserved[places[i]] && c.TicketID != nil:
			named = append(named, c)
		case reserved[places[i]]:
			others = append(others, c)
		case room > 0:
			others = append(others, c)
			room--
		}
	}
	return append(named, others...)
}

// relevance is the relevance that MMR uses.
func (c candidate) relevance(q Question) float64 {
	switch {
	case q.isHybrid() && c.Relevance != nil:
		return *c.Relevance
	case !q.isHybrid() && c.Similarity != nil:
		return *c.Similarity
	}
	return 0
}

// reserve keeps places among the top for sources named in the question: one for the best named
// ticket, each project and each other ticket, in that order. Their further texts get at most half
// of the top.
func reserve(found []candidate, places []int, top int) map[int]bool {
	var tickets, projects, further []int
	seen := map[sourceID]bool{}
	for _, place := range places {
		switch c := found[place]; {
		case !c.Named:
		case seen[c.sourceID()]:
			further = append(further, place)
		case c.TicketID != nil:
			tickets = append(tickets, place)
		default:
			projects = append(projects, place)
		}
		if found[place].Named {
			seen[found[place].sourceID()] = true
		}
	}
	first := slices.Concat(tickets[:min(1, len(tickets))], projects, tickets[min(1, len(tickets)):])
	first = first[:min(top, len(first))]
	reserved := map[int]bool{}
	for _, place := range first {
		reserved[place] = true
	}
	for _, place := range further {
		if len(reserved) < (top+1)/2 {
			reserved[place] = true
		}
	}
	return reserved
}

// thin drops what would fill the context without adding to it, while enough is left: surplus chunks
// of a ticket, copies, and short notes and comments without a word of the question whose ticket has
// other chunks. The similarity of a note such as "Patch is up" comes from its embedded header and
// only says that the ticket is right. The best candidate and named sources stay.
func thin(found []candidate, places []int, q Question, alike *likeness) []int {
	perSource := map[sourceID]int{}
	asked := wordsOf(q.Text)
	chunks := map[sourceID]int{}
	for _, place := range places {
		chunks[found[place].sourceID()]++
	}
	best := -1
	for _, place := range places {
		if best < 0 || found[place].relevance(q) > found[best].relevance(q) {
			best = place
		}
	}
	var kept, spare []int
	for _, place := range places {
		c := found[place]
		if place == best || c.Named {
			perSource[c.sourceID()]++
			kept = append(kept, place)
			continue
		}
		empty := (c.Kind == "status_note" || c.Source.Comment != nil) && c.Tokens < shortNote && chunks[c.sourceID()] > 1 && overlap(asked, alike.wordsAt(place)) == 0
		copied := false
		for _, earlier := range kept {
			copied = copied || alike.copied(earlier, place)
		}
		if empty || copied || perSource[c.sourceID()] >= sourceChunks(q.TopK) {
			spare = append(spare, place)
			continue
		}
		perSource[c.sourceID()]++
		kept = append(kept, place)
	}
	for _, place := range spare {
		if len(kept) >= q.TopK {
			break
		}
		kept = append(kept, place)
	}
	return kept
}

// sourceID identifies a ticket, project or document.
type sourceID struct {
	document        string
	project, ticket int64
}

func (c candidate) sourceID() (id sourceID) {
	switch {
	case c.DocumentID != nil:
		id.document = *c.DocumentID
	case c.TicketID != nil:
		id.ticket = *c.TicketID
	case c.ProjectID != nil:
		id.project = *c.ProjectID
	}
	return id
}

// shortNote is the length in tokens below which a note's vector is mostly that of its header.
const shortNote = 25

// likeness measures how similar two candidates are, 0 to 1.
type likeness struct {
	found   []candidate
	usual   float64 // mean between chunks of different tickets
	byPlace []wordSet
}

// newLikeness measures the usual similarity among the rows.
func newLikeness(found []candidate) *likeness {
	l := &likeness{found: found, byPlace: make([]wordSet, len(found))}
	pairs := 0
	for i, c := range found {
		for j := range i {
			if c.sourceID() != found[j].sourceID() {
				l.usual += l.cosine(i, j)
				pairs++
			}
		}
	}
	if pairs > 0 {
		l.usual /= float64(pairs)
	}
	return l
}

// of is the cosine of the vectors, except between chunks of one ticket. Their shared header makes
// these vectors similar whatever the texts say, and MMR would prefer any other ticket to the note
// with the resolution. There it is the overlap of the texts, scaled so that no common word equals
// the usual similarity of two tickets and equal words equal 1, and at most the cosine.
func (l *likeness) of(i, j int) float64 {
	cosine := l.cosine(i, j)
	if l.found[i].sourceID() != l.found[j].sourceID() {
		return cosine
	}
	return min(cosine, l.usual+(1-l.usual)*overlap(l.wordsAt(i), l.wordsAt(j)))
}

// cosine is the cosine of the vectors, in either order; 0 if unknown.
func (l *likeness) cosine(i, j int) float64 {
	if i < j {
		i, j = j, i
	}
	if j >= len(l.found[i].Similarities) {
		return 0
	}
	return l.found[i].Similarities[j]
}

// wordsAt returns the words of a candidate, cached because every comparison needs them.
func (l *likeness) wordsAt(place int) wordSet {
	if l.byPlace[place] == nil {
		l.byPlace[place] = wordsOf(l.found[place].Text)
	}
	return l.byPlace[place]
}

// sameText is the word overlap from which a text counts as a copy. Between texts longer than their
// headers (longText bytes), copies have a cosine above near, so most texts need not be read.
const (
	sameText = 0.9
	longText = 800
)

// near is a cosine that copies exceed. Models differ in their range, so it is nearShare of the way
// from the usual similarity to 1, and at most nearCosine, because in a list of copies the usual
// similarity is high.
func (l *likeness) near() float64 {
	const nearCosine, nearShare = 0.8, 0.4
	return min(nearCosine, l.usual+(1-l.usual)*nearShare)
}

func (l *likeness) copied(i, j int) bool {
	a, b := l.found[i].Text, l.found[j].Text
	// A cosine of 0 is unknown.
	if cosine := l.cosine(i, j); cosine != 0 && cosine < l.near() && min(len(a), len(b)) >= longText {
		return false
	}
	if len(a) > 2*len(b) || len(b) > 2*len(a) {
		return false
	}
	return a == b || overlapReaches(l.wordsAt(i), l.wordsAt(j), sameText)
}
