package demo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"levelboard/internal/usecase/leaderboard"
)

var (
	adjectives = words(`amber arctic autumn bitter blue bold brave brisk bronze calm cinder clever cloudy copper cosmic
		crimson curious dapper daring dusty eager early ember fabled fallow feral fuzzy gentle gilded glass golden hazy hidden
		hollow humble icy idle indigo iron ivory jade jolly keen late lazy lucid lunar mellow misty mossy neon nimble noble odd
		pale paper patient pixel plucky polar proud quantum quiet rapid rusty sable sandy scarlet silent silver sleepy sly
		solar spicy stray sunny swift tidal tiny urban velvet vivid wandering wild windy witty wooden zesty`)
	nouns = words(`acorn badger beacon biscuit bobcat canyon cedar cicada comet coral cricket crow dingo dove drifter dumpling
		falcon fern finch firefly fjord fox gecko glacier gopher harbor harrier heron hornet ibis jackal juniper kettle kestrel
		koala lantern lemur lichen lynx magpie mango maple marmot meadow meteor mole moth mushroom narwhal nebula newt noodle
		nomad ocelot octopus orbit orchid osprey otter owl panda pebble penguin phoenix pickle pigeon plover puffin quail
		quartz rabbit radish raven ridge river robin salmon sparrow sphinx squid stoat stork sumac swan tangerine teapot thistle
		thunder tiger toad tundra turnip vole walrus weasel willow wolf wombat wren yak`)
	givenNames = words(`Aaliyah Aditi Agnes Ahmed Aiko Alba Alejandro Amara Amir Ana Anders Anya Aria Arjun Astrid Ayumi
		Bastian Beatriz Bilal Björn Camila Carlos Chiara Chloé Daan Dalia Daniela Diego Dmitri Eero Elif Elena Emeka Emil Emma
		Esra Fatima Felix Femi Finn Freya Gabriel Giulia Greta Hana Haruto Hugo Ibrahim Ines Ingrid Isla Ivan Jakub Jasmin João
		Jonas Julia Kai Kamal Karin Katya Kenji Kofi Lars Layla Lea Leif Leila Lena Liam Linh Lucía Luca Mads Magda Malik Mara
		Marek Mateo Mei Mia Mila Mina Mirza Nadia Naomi Nia Nico Nikola Nils Noah Noor Nour Olga Oliver Omar Oskar Paula Pavel
		Petra Priya Quinn Rafael Rania Ravi Rosa Rui Sadia Samir Sanna Santiago Sara Selma Sina Sofia Soren Tariq Tereza Theo
		Thi Tomás Uma Viktor Wanda Wei Xavi Yara Yasmin Yuki Yusuf Zainab Zoë Zsófia`)
	familyNames = words(`Abebe Alvarez Bakker Bauer Bergström Cohen Costa Das Dubois Eriksen Farouk Fischer García Haddad
		Hansen Hoang Ivanova Jansen Kaya Kim Kovač Kowalski Kumar Larsen Lindqvist Lopez Mbeki Moreau Müller Nakamura Nguyen
		Novak Okafor Olsen Park Patel Petrov Popescu Rahman Rossi Sato Schmidt Silva Singh Svensson Takeda Tanaka Virtanen Weber Yilmaz`)
	otherScripts = words(`海斗 さくら ゆうき 蓮 小雨 子轩 晓明 민준 서연 하늘 Дмитрий Катя Аня Мишка Борис Ελένη Νίκος Γιώργος محمد ليلى
		نور סול दीया अर्जुन สมชาย`)
	emoji    = words(`🌱 🌸 🌙 ⭐ 🔥 🦊 🐸 🐹 🍄 🎮 ☕ 🍜 ✨ 💤 🪴 🎧`)
	accounts = words(`gg hq tv dev io plays irl uwu real official art`)
)

func words(s string) []string { return strings.Fields(s) }

// namer makes up users whose usernames are all different, as those of one platform are.
type namer struct {
	r     *rand.Rand
	taken map[string]bool
}

// user has no avatar: there is no picture that a made-up hash would lead to.
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
	adjective, noun := n.pick(adjectives), n.pick(nouns)
	given, family := n.pick(givenNames), n.pick(familyNames)
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
		return plain(given) + "_" + n.pick(accounts), given + " " + n.pick(emoji)
	case 5:
		return "the" + adjective + noun, "The " + title(adjective) + " " + title(noun)
	case 6:
		return noun + "." + n.pick(accounts), n.pick(emoji) + " " + noun
	case 7:
		return plain(given) + plain(family)[:1] + number, n.pick(otherScripts)
	default:
		return "x" + noun + number + "x", strings.ToUpper(noun)
	}
}

func (n *namer) pick(list []string) string { return list[n.r.IntN(len(list))] }

func (n *namer) chance(p float64) bool { return n.r.Float64() < p }

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

var ascii = strings.NewReplacer("á", "a", "ã", "a", "č", "c", "é", "e", "ë", "e", "í", "i", "ó", "o", "ö", "o", "ü", "u")

// plain is a name as usernames spell it.
func plain(name string) string { return ascii.Replace(strings.ToLower(name)) }
