package testenv

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// Answer is a server's answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Path   string // with the query, after redirects
}

// Send sends a request and reads the answer. A nil client is
// [http.DefaultClient]. headers are name, value, name, value; an empty value
// sends none. A body without a Content-Type is application/json.
func Send(ctx context.Context, client *http.Client, method, url, body string, headers ...string) (Answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	return Exchange(client, r)
}

// Exchange is [Send] with an existing request.
func Exchange(client *http.Client, r *http.Request) (Answer, error) {
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return Answer{Status: answer.StatusCode, Header: answer.Header, Body: body, Path: answer.Request.URL.RequestURI()}, err
}
