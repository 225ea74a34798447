package main

import (
	"encoding/json"
	"fmt"
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
	for range 2 { // the second time replaces the first
		if err := fill(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(routes(client))
	defer server.Close()

	if body := ask(t, "GET", server.URL+"/get/v2/levels/1", ""); len(body) != 210 || !json.Valid(body) {
		t.Errorf("GET returns %d bytes, want 210 of JSON: %s", len(body), body)
	}
	first := fmt.Sprint(firstMember) // the member with 0 XP
	if body := ask(t, "PATCH", server.URL+"/zincrby/v2/levels/1/users/"+first, `{"xp":{"increment":9000}}`); !strings.Contains(string(body), `"xp":9000}`) {
		t.Errorf("ZINCRBY returns %s, want 9000 XP", body)
	}
	var page top
	if err := json.Unmarshal(ask(t, "GET", server.URL+"/top100/v2/levels/1?page=1", ""), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Levels) != 100 || page.Levels[0].UserID != first || page.Levels[0].XP != 9000 || page.Levels[1].XP != 4999 {
		t.Errorf("top100 is %+v, want the raised member first", page)
	}
	last := page.Levels[99]
	if last.Rank != 100 || last.MessageCount == 0 || len(last.User.Avatar) != 32 || !strings.HasPrefix(last.User.Username, "bench.member.") {
		t.Errorf("row 100 of the top is %+v, want rank 100 with user data", last)
	}

	for route, name := range map[string]string{"get": "rank", "zincrby": "increment", "top100": "page"} {
		scenario, _ := loadgen.FindScenario(name)
		result, err := loadgen.Run(t.Context(), loadgen.Options{
			URL: server.URL + "/" + route, Bare: true, Scenario: scenario, Concurrency: 3, Duration: 50 * time.Millisecond, Members: boardMembers, Skew: loadgen.Uniform,
		})
		if err != nil || result.Total.Requests == 0 || result.Total.Failed() > 0 {
			t.Errorf("the load on %s: %+v (%v), want requests without failures", route, result, err)
		}
	}
}

func ask(t *testing.T, method, url, body string) []byte {
	t.Helper()
	answer, err := testenv.Send(t.Context(), nil, method, url, body)
	if err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%s %s: status %d (%v), want 200", method, url, answer.Status, err)
	}
	return answer.Body
}
