package loadgen

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// Batch is how many messages a call brings: a number from 1 to maxBatch, or Mixed.
type Batch string

// Mixed draws a size from 1 to maxBatch for each call, larger ones when the community is busy.
const Mixed Batch = "mixed"

// Valid reports if the batch is one of the above.
func (b Batch) Valid() bool { return b == Mixed || b.size() > 0 }

// size is the number of messages, 0 if it is not always the same.
func (b Batch) size() int {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 1 || n > maxBatch || strconv.Itoa(n) != string(b) {
		return 0
	}
	return n
}

// The shape of a busy community.
const (
	// dayCalls is how many calls make a day, over which the community wakes up and goes to sleep.
	dayCalls = 1440
	// mostTalks is how many conversations take turns when everybody is awake.
	mostTalks = 48
	// A conversation is of up to talkSpeakers members and, in the mean, of talkMessages messages; one in raidEvery is a burst of
	// many members in one channel, all at once.
	talkSpeakers, talkMessages   = 6, 12
	raidEvery                    = 400
	raidSpeakers, raidMessages   = 80, 600
	channels, categories         = 500, 25
	withData, withNews, newsKind = 0.1, 0.001, 10 // shares of messages that bring user data, and other data than before
)

// What a message says about its author.
const (
	dataAbsent = iota
	dataKnown  // the same as ever
	dataNew    // this and what follows: another name
)

// spoken is one message.
type spoken struct{ member, channel, data int }

// traffic makes the calls of one bot, one after another; the same seed makes the same calls. A few members at a time write in the
// same channel for a while.
type traffic struct {
	r                *rand.Rand
	speaker, channel func() int
	batch            Batch
	talks            []talk
	calls            int
}

type talk struct {
	channel  int
	speakers []int
	left     int // messages
}

func newTraffic(r *rand.Rand, members int, skew Skew, batch Batch) *traffic {
	return &traffic{r: r, speaker: skew.drawer(r, members), channel: Zipf.drawer(r, channels), batch: batch}
}

// next appends the messages of the next call.
func (t *traffic) next(call []spoken) []spoken {
	awake := 0.55 - 0.45*math.Cos(2*math.Pi*float64(t.calls%dayCalls)/dayCalls) // from 0.1 to 1
	t.calls++
	size := t.batch.size()
	if size == 0 {
		size = int(math.Pow(maxBatch, awake*t.r.Float64()))
	}
	open := 1 + int(awake*(mostTalks-1))
	for range size {
		call = append(call, t.say(open))
	}
	return call
}

// say draws a message of one of the open conversations.
func (t *traffic) say(open int) spoken {
	at := t.r.IntN(open)
	if at >= len(t.talks) {
		at = len(t.talks)
		t.talks = append(t.talks, talk{})
	}
	k := &t.talks[at]
	if k.left == 0 {
		t.begin(k)
	}
	k.left--
	said := spoken{member: k.speakers[t.r.IntN(len(k.speakers))], channel: k.channel}
	switch share := t.r.Float64(); {
	case share < withNews:
		said.data = dataNew + t.r.IntN(newsKind)
	case share < withData:
		said.data = dataKnown
	}
	return said
}

func (t *traffic) begin(k *talk) {
	k.channel = t.channel()
	speakers, messages := 1+t.r.IntN(talkSpeakers), talkMessages
	if t.r.IntN(raidEvery) == 0 {
		speakers, messages = raidSpeakers, raidMessages
	}
	k.speakers = k.speakers[:0]
	for range speakers {
		k.speakers = append(k.speakers, t.speaker())
	}
	k.left = 1 + t.r.IntN(2*messages-1)
}
