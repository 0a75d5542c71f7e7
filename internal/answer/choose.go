package answer

import "slices"

const (
	// shortNote is the length in tokens below which a note's vector is mostly that of its header.
	shortNote = 25
	// sameText is the word overlap from which a text counts as a copy. Between texts longer than their
	// headers (longText bytes), copies have a cosine above near, so most texts need not be read.
	sameText = 0.9
	longText = 800
	// contextTokens is the most tokens of all sources in a prompt. It fits the largest number of
	// chunks a request can ask for, at their usual length.
	contextTokens = 8000
	// tagTokens is the usual size of a source's tags and attributes, without a ticket's fields.
	tagTokens = 60
)

// choose picks the chunks of an answer by maximal marginal relevance with the caller's lambda. It
// defines the candidates and their similarity to one another, and ensures that sources named in the
// question are chosen. With lambda 1 nothing is thinned: the caller asks for relevance only.
func choose(found []candidate, q Question) []candidate {
	var pool []*candidate
	for i := range found {
		c := &found[i]
		c.place = i
		if c.Named || c.OverThreshold {
			pool = append(pool, c)
		}
	}
	usual := usualCosine(found)
	if q.Lambda < 1 {
		pool = thin(pool, q, usual)
	}
	relevance := make([]float64, len(pool))
	for i, c := range pool {
		relevance[i] = c.relevance()
	}
	order := mmr(relevance, func(i, j int) float64 { return likeness(pool[i], pool[j], usual) }, len(pool), q.Lambda)
	reserved := reserve(pool, q.TopK)
	room := q.TopK - len(reserved)
	var named, others []candidate // a reserved ticket comes first
	for _, i := range order {
		switch c := pool[i]; {
		case reserved[c] && c.TicketID != nil:
			named = append(named, *c)
		case reserved[c]:
			others = append(others, *c)
		case room > 0:
			others = append(others, *c)
			room--
		}
	}
	return append(named, others...)
}

// relevance is what MMR uses.
func (c *candidate) relevance() float64 { return deref(c.Similarity) }

// sourceID identifies a ticket, project or document.
type sourceID struct {
	document        string
	project, ticket int64
}

func (c *candidate) sourceID() sourceID {
	return sourceID{deref(c.DocumentID), deref(c.ProjectID), deref(c.TicketID)}
}

// reserve keeps places among the top for sources named in the question: one for the best named
// ticket, each project and each other ticket, in that order. Their further texts get at most half
// of the top.
func reserve(pool []*candidate, top int) map[*candidate]bool {
	var tickets, projects, further []*candidate
	seen := map[sourceID]bool{}
	for _, c := range pool {
		switch id := c.sourceID(); {
		case !c.Named:
			continue
		case seen[id]:
			further = append(further, c)
		case c.TicketID != nil:
			tickets = append(tickets, c)
		default:
			projects = append(projects, c)
		}
		seen[c.sourceID()] = true
	}
	first := slices.Concat(tickets[:min(1, len(tickets))], projects, tickets[min(1, len(tickets)):])
	reserved := map[*candidate]bool{}
	for _, c := range first[:min(top, len(first))] {
		reserved[c] = true
	}
	for _, c := range further {
		if len(reserved) < (top+1)/2 {
			reserved[c] = true
		}
	}
	return reserved
}

// thin drops what would fill the context without adding to it, while enough is left: surplus chunks
// of a ticket, copies, and short notes and comments without a word of the question whose ticket has
// other chunks. The similarity of a note such as "Patch is up" comes from its embedded header and
// only says that the ticket is right. The best candidate and named sources stay.
func thin(pool []*candidate, q Question, usual float64) []*candidate {
	asked := wordsOf(q.Search)
	var best *candidate
	chunks := map[sourceID]int{}
	for _, c := range pool {
		chunks[c.sourceID()]++
		if best == nil || c.relevance() > best.relevance() {
			best = c
		}
	}
	var kept, spare []*candidate
	perSource := map[sourceID]int{}
	for _, c := range pool {
		id := c.sourceID()
		empty := (c.Kind == "status_note" || c.Comment != nil) && c.Tokens < shortNote && chunks[id] > 1 && overlap(asked, c.wordSet()) == 0
		if c != best && !c.Named && (empty || perSource[id] >= sourceChunks(q.TopK) || slices.ContainsFunc(kept, func(other *candidate) bool { return copied(c, other, usual) })) {
			spare = append(spare, c)
			continue
		}
		perSource[id]++
		kept = append(kept, c)
	}
	return append(kept, spare[:max(0, min(len(spare), q.TopK-len(kept)))]...)
}

// copied reports whether two texts are the same but for a few words. Models differ in their range
// of cosines, so near is a share of the way from the usual one to 1, and bounded, because in a list
// of copies the usual cosine is high.
func copied(a, b *candidate, usual float64) bool {
	near := min(0.8, usual+(1-usual)*0.4)
	if x := cosine(a, b); x != 0 && x < near && min(len(a.Text), len(b.Text)) >= longText { // 0 is unknown
		return false
	}
	return a.Text == b.Text || overlap(a.wordSet(), b.wordSet()) >= sameText
}

// likeness is the cosine of the vectors, except between chunks of one ticket. Their shared header
// makes these vectors similar whatever the texts say, and MMR would prefer any other ticket to the
// note with the resolution. There it is the overlap of the texts, scaled so that no common word
// equals the usual similarity of two tickets and equal words equal 1, and at most the cosine.
func likeness(a, b *candidate, usual float64) float64 {
	if a.sourceID() != b.sourceID() {
		return cosine(a, b)
	}
	return min(cosine(a, b), usual+(1-usual)*overlap(a.wordSet(), b.wordSet()))
}

// cosine is the cosine of the vectors, in either order; 0 if unknown.
func cosine(a, b *candidate) float64 {
	if a.place < b.place {
		a, b = b, a
	}
	if b.place >= len(a.Similarities) {
		return 0
	}
	return a.Similarities[b.place]
}

// usualCosine is the mean between chunks of different sources.
func usualCosine(found []candidate) float64 {
	sum, pairs := 0.0, 0
	for i := range found {
		for j := range i {
			if found[i].sourceID() != found[j].sourceID() {
				sum += cosine(&found[i], &found[j])
				pairs++
			}
		}
	}
	return sum / float64(max(1, pairs))
}

// fit keeps a prompt's sources within the token budget by dropping the least relevant first, and
// the later of equals. Named sources are dropped last.
func fit(chosen []candidate) []candidate {
	total, least := 0, 0
	for i, c := range chosen {
		tokens := c.Tokens
		if tokens <= 0 { // not embedded yet
			tokens = len(c.Text) / tokenBytes
		}
		total += tokens + tagTokens
		if c.Fields != nil {
			total += len(described(c.Fields).tag(len(chosen))) / tokenBytes
		}
		if other := chosen[least]; other.Named == c.Named && c.relevance() <= other.relevance() || other.Named && !c.Named {
			least = i
		}
	}
	if total <= contextTokens || len(chosen) <= 1 {
		return chosen
	}
	return fit(slices.Delete(chosen, least, least+1))
}
