package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/testing/testenv"
)

func TestEveryFloorAnswers(t *testing.T) {
	options, err := redis.ParseURL(testenv.Redis(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	for range 2 { // the second time replaces what is there
		if err := fill(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(routes(client))
	defer server.Close()

	if body := ask(t, "GET", server.URL+"/get", ""); len(body) != 210 || !json.Valid(body) {
		t.Errorf("GET is %d bytes: %s", len(body), body)
	}
	if body := ask(t, "PATCH", server.URL+"/patch", `{"xp":{"increment":7}}`); string(body) != `{"level":{"level":0,"messageCount":0,"xp":7}}` {
		t.Errorf("PATCH: %s", body)
	}
	first := fmt.Sprint(firstMember) // has 0 XP
	if body := ask(t, "PATCH", server.URL+"/zincrby/"+first, `{"xp":{"increment":9000}}`); !strings.Contains(string(body), `"xp":9000}`) {
		t.Errorf("ZINCRBY: %s", body)
	}
	var page top
	if err := json.Unmarshal(ask(t, "GET", server.URL+"/top100", ""), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Levels) != 100 || page.Levels[0].UserID != first || page.Levels[0].XP != 9000 || page.Levels[1].XP != 4999 {
		t.Errorf("top100: %+v", page)
	}
	last := page.Levels[99]
	if last.Rank != 100 || last.MessageCount == 0 || len(last.User.Avatar) != 32 || !strings.HasPrefix(last.User.Username, "bench.member.") {
		t.Errorf("the last of the top: %+v", last)
	}

	for _, route := range []string{"get", "patch", "zincrby", "top100"} {
		requests, _ := loadgen.FloorRequests(route)
		result, err := loadgen.Ask(context.Background(), loadgen.AskOptions{
			Name: route, URL: server.URL, Requests: requests, Concurrency: 3, Duration: 50 * time.Millisecond,
		})
		if err != nil || result.Total.Requests == 0 || result.Total.Failed() > 0 {
			t.Errorf("the load on %s: %+v, %v", route, result, err)
		}
	}
}

func ask(t *testing.T, method, url, body string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d, %v", method, url, response.StatusCode, err)
	}
	return answer
}
