package load

import (
	"crypto/sha256"
	"strings"

	"tasklens/internal/ticketfile"
)

// Link is a link between two tickets, in the direction in which it is stored.
type Link struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Other string `json:"other_key"`
}

// listed is what the files hold, as far as it takes to know what they lack: a digest of each key
// and link, so that a million tickets take some 50 MB.
type listed struct {
	tickets  map[digest]struct{}
	links    map[digest]struct{}
	projects map[string]bool // with a ticket in the files
	details  bool            // whether any ticket lists comments or links
	twice    bool            // whether a ticket is listed twice, so that the correct row is unknown
}

type digest [16]byte

func digestOf(parts ...string) (d digest) {
	sum := sha256.Sum256([]byte(strings.ToUpper(strings.Join(parts, "\x00"))))
	copy(d[:], sum[:])
	return d
}

func newListed() listed {
	return listed{tickets: map[digest]struct{}{}, links: map[digest]struct{}{}, projects: map[string]bool{}}
}

func (l *listed) add(t ticketfile.Ticket) {
	key := digestOf(t.Key)
	_, before := l.tickets[key]
	l.twice = l.twice || before
	l.tickets[key] = struct{}{}
	l.projects[t.ProjectKey] = true
	l.details = l.details || t.Comments != nil || t.Links != nil
	for _, link := range linksOf(t) {
		l.links[link.digest()] = struct{}{}
	}
}

// digest is equal for both directions of relates_to, which is symmetric.
func (l Link) digest() digest {
	if l.Kind == "relates_to" && strings.ToUpper(l.Key) > strings.ToUpper(l.Other) {
		l.Key, l.Other = l.Other, l.Key
	}
	return digestOf(l.Key, l.Kind, l.Other)
}

func linksOf(t ticketfile.Ticket) (links []Link) {
	for _, link := range t.Links {
		if link.Inward {
			links = append(links, Link{link.Key, link.Kind, t.Key})
		} else {
			links = append(links, Link{t.Key, link.Kind, link.Key})
		}
	}
	return links
}
