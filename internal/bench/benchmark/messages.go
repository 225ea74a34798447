package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"levelboard/internal/bench/loadgen"
)

// batchAim is how many messages a call brings, and what has to be reached.
type batchAim struct {
	batch int
	least float64 // of the service's messages a second, to the bare script's; 0 for none
}

var batchAims = []batchAim{{1, 0}, {10, 0}, {100, 0.7}, {1000, 0.6}}

const (
	callers        = 16
	messageMembers = 1_000_000 // as many as the bare script's benchmark has
	messagesBoard  = 1         // the guild's number
)

// measuredBatch is what the rounds gave for one size of calls.
type measuredBatch struct {
	batchAim
	messages, bare, authors, p50, p99 []float64
	resident                          int64
}

// messages measures the service and the bare script in turn: a Go program that does nothing but drive the script with the same
// calls, on a Redis of its own with the same settings.
func (b *bencher) messages(ctx context.Context) (string, error) {
	all := make([]measuredBatch, len(batchAims))
	var members []float64
	for round := range b.rounds {
		log.Printf("messages: round %d of %d, the bare script", round+1, b.rounds)
		bare, err := b.bareScript(ctx)
		if err != nil {
			return "", err
		}
		members = append(members, bare.members)
		for i, aim := range batchAims {
			m := &all[i]
			result, err := b.serve(ctx, load{
				scenario: loadgen.MessagesScenario, batch: strconv.Itoa(aim.batch), members: messageMembers, first: messagesBoard, connections: callers,
			})
			if err != nil {
				return "", err
			}
			resident, err := b.service.resident()
			if err != nil {
				return "", err
			}
			said := result.Messages
			m.batchAim, m.resident = aim, max(m.resident, resident)
			m.messages, m.bare = append(m.messages, said.PerSecond), append(m.bare, bare.messages[aim.batch])
			m.authors = append(m.authors, said.Authors/said.PerCall)
			m.p50, m.p99 = append(m.p50, result.Total.Latency.P50), append(m.p99, result.Total.Latency.P99)
		}
	}
	return messagesTable(all) + fmt.Sprintf("\nThe bare script with 100 different speakers in a step: %s members a second.\n", whole(median(members))), nil
}

func messagesTable(all []measuredBatch) string {
	t := table{header: []string{"batch", "service / bare", "aim", "messages a second", "bare script", "members for each message", "p50 ms", "p99 ms", "service MB"}}
	for _, m := range all {
		want := "none"
		if m.least > 0 {
			want = "at least " + trimmed(m.least)
		}
		t.add(strconv.Itoa(m.batch), judged(median(ratios(m.messages, m.bare)), m.least, false), want, whole(median(m.messages)), whole(median(m.bare)),
			fixed(median(m.authors)), fixed(median(m.p50)), fixed(median(m.p99)), megabytes(m.resident))
	}
	return t.String()
}

// bareRates are messages a second by batch, and members a second where all of a step are different.
type bareRates struct {
	messages map[int]float64
	members  float64
}

// bareScript runs BenchmarkAwardBare.
func (b *bencher) bareScript(ctx context.Context) (bareRates, error) {
	program, err := filepath.Abs(b.bare)
	if err != nil {
		return bareRates{}, err
	}
	command := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.benchtime", b.seconds.String(),
		"-test.bench", "^BenchmarkAwardBare$/^(traffic|zipf)$/^(batch=.*|chunk=100)$/^goroutines=16$")
	said, err := command.CombinedOutput()
	if err != nil {
		return bareRates{}, fmt.Errorf("the bare script: %w\n%s", err, said)
	}
	return readBare(said)
}

var (
	bareMessages = regexp.MustCompile(`traffic/batch=(\d+)/\S+\s.*?([0-9.e+]+) messages/s`)
	bareMembers  = regexp.MustCompile(`zipf/chunk=100/\S+\s.*?([0-9.e+]+) members/s`)
)

// readBare reads what the benchmark printed.
func readBare(said []byte) (bareRates, error) {
	rates := bareRates{messages: map[int]float64{}}
	for _, found := range bareMessages.FindAllSubmatch(said, -1) {
		batch, _ := strconv.Atoi(string(found[1]))
		rates.messages[batch], _ = strconv.ParseFloat(string(found[2]), 64)
	}
	if found := bareMembers.FindSubmatch(said); found != nil {
		rates.members, _ = strconv.ParseFloat(string(found[1]), 64)
	}
	for _, aim := range batchAims {
		if rates.messages[aim.batch] <= 0 || rates.members <= 0 {
			return rates, errors.New("the bare script's benchmark did not print all its rates")
		}
	}
	return rates, nil
}
