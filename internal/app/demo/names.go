package demo

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"levelboard/internal/usecase/leaderboard"
)

//go:embed names.txt
var namesText string

// lists are the word lists of names.txt by their names. Each is one line.
var lists = sync.OnceValue(func() map[string][]string {
	lists := map[string][]string{}
	for line := range strings.Lines(namesText) {
		name, words, _ := strings.Cut(line, ": ")
		lists[name] = strings.Fields(words)
	}
	return lists
})

// namer makes up users with unique usernames.
type namer struct {
	r     *rand.Rand
	taken map[string]bool
}

// user makes up a user without an avatar, since a made-up hash would lead to no picture.
func (n *namer) user() leaderboard.User {
	username, display := n.names()
	for n.taken[username] {
		username += strconv.Itoa(n.r.IntN(100))
	}
	n.taken[username] = true
	u := leaderboard.User{Username: username, Discriminator: "0"}
	if n.chance(0.03) { // an account that was never moved to unique usernames
		u.Discriminator = fmt.Sprintf("%04d", 1+n.r.IntN(9999))
	}
	if n.chance(0.8) {
		u.GlobalName = &display
	}
	if n.chance(0.4) {
		colour := fmt.Sprintf("#%06x", n.r.IntN(1<<24))
		u.AccentColour = &colour
	}
	return u
}

// names returns a username (a to z, digits, dots and underscores) and a display name in one of several styles.
func (n *namer) names() (username, display string) {
	adjective, noun := n.pick("adjectives"), n.pick("nouns")
	given, family := n.pick("givenNames"), n.pick("familyNames")
	number := strconv.Itoa(n.r.IntN(1000))
	switch n.r.IntN(9) {
	case 0:
		return adjective + noun, title(adjective) + title(noun)
	case 1:
		return adjective + "_" + noun + number, title(noun)
	case 2:
		return plain(given) + "." + plain(family), given + " " + family
	case 3:
		return plain(given) + number, strings.ToLower(given)
	case 4:
		return plain(given) + "_" + n.pick("accounts"), given + " " + n.pick("emoji")
	case 5:
		return "the" + adjective + noun, "The " + title(adjective) + " " + title(noun)
	case 6:
		return noun + "." + n.pick("accounts"), n.pick("emoji") + " " + noun
	case 7:
		return plain(given) + plain(family)[:1] + number, n.pick("otherScripts")
	default:
		return "x" + noun + number + "x", strings.ToUpper(noun)
	}
}

func (n *namer) pick(list string) string {
	words := lists()[list]
	return words[n.r.IntN(len(words))]
}

func (n *namer) chance(p float64) bool { return n.r.Float64() < p }

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

var ascii = strings.NewReplacer("á", "a", "ã", "a", "č", "c", "é", "e", "ë", "e", "í", "i", "ó", "o", "ö", "o", "ü", "u")

// plain spells a name as usernames do.
func plain(name string) string { return ascii.Replace(strings.ToLower(name)) }
