package redisstore_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
)

// heard collects the last word of each answer, which is the whole answer of a refusal.
type heard struct {
	mu    sync.Mutex
	words map[string]bool
}

func (*heard) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*heard) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (h *heard) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		defer func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, c := range cmds {
				text := c.String() // "command: answer"
				h.words[text[strings.LastIndex(text, " ")+1:]] = true
			}
		}()
		return next(ctx, cmds)
	}
}

// The cases that run on clusters and through sentinels cover every script and every refusal.
func TestTheSmokeCasesCoverScriptsAndRefusals(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	h := &heard{words: map[string]bool{}}
	client.AddHook(h)
	storetest.SmokeBoard(t, func(t *testing.T) storetest.Store {
		ok(t, client.FlushAll(t.Context()).Err())
		return redisstore.New(client, redisstore.Options{})
	})

	registry := prometheus.NewRegistry()
	ok(t, registry.Register(client.Metrics()))
	families, err := registry.Gather()
	ok(t, err)
	var ran []string
	for _, f := range families {
		if f.GetName() == "levelboard_redis_script_duration_seconds" {
			for _, m := range f.GetMetric() {
				ran = append(ran, m.GetLabel()[0].GetValue())
			}
		}
	}
	for _, name := range redisstore.ScriptNames(t) {
		if !slices.Contains(ran, name) {
			t.Errorf("no smoke case runs %s.lua", name)
		}
	}
	for _, word := range redisstore.RefusalWords() {
		if !h.words[word] {
			t.Errorf("no smoke case gets the refusal %s", word)
		}
	}
}
