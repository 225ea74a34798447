package plainhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/plainhttp"
)

// Whatever is sent after a request with the same headers is answered as by net/http, which has no memory of them.
func TestTheSameAnswersAfterTheSameHeaders(t *testing.T) {
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			all := strings.Join(c.packets, "")
			_, headers, ok := strings.Cut(all, "\r\n")
			if end := strings.Index(headers, "\r\n\r\n"); ok && end >= 0 {
				headers = headers[:end+4]
			}
			for _, first := range []string{"GET /echo HTTP/1.1\r\n" + headers, "POST /unread HTTP/1.1\r\n" + headers + "body"} {
				compare(t, append([]string{first}, c.packets...))
				compare(t, append([]string{first + c.packets[0]}, c.packets[1:]...))
			}
		})
	}
}

// sameHeaders are heads below their first lines, and whether the second is read by what is known of the first.
var sameHeaders = []struct {
	name          string
	known         bool
	first, second string
}{
	{"the same", true, "Host: h\r\nA: b\r\n", "Host: h\r\nA: b\r\n"},
	{"the same with a length", true, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 4\r\n"},
	{"another value", false, "Host: h\r\nA: b\r\n", "Host: h\r\nA: c\r\n"},
	{"another host", false, "Host: h\r\n", "Host: i\r\n"},
	{"another tag", true, "Host: h\r\nIf-None-Match: \"1\"\r\n", "Host: h\r\nIf-None-Match:  W/\"2, 3\"  \r\n"},
	{"another tag, in small letters", true, "Host: h\r\nif-none-match: 1\r\n", "Host: h\r\nif-none-match: 2\r\n"},
	{"another tag, in other letters", false, "Host: h\r\nif-none-match: 1\r\n", "Host: h\r\nIf-None-Match: 2\r\n"},
	{"a tag with a tab", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match: \t2\r\n"},
	{"a tag with a carriage return", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match: 2\r3\r\n"},
	{"a tag with a line feed", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match: 2\nA: b\r\n"},
	{"a tag without a colon", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match\r\n"},
	{"a tag with a space before the colon", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match : 1\r\n"},
	{"an empty tag", true, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match:\r\n"},
	{"a tag that was empty", true, "Host: h\r\nIf-None-Match:\r\n", "Host: h\r\nIf-None-Match: 1\r\n"},
	{"one of two tags", false, "Host: h\r\nIf-None-Match: 1\r\nIf-None-Match: 2\r\n", "Host: h\r\nIf-None-Match: 1\r\nIf-None-Match: 3\r\n"},
	{"a tag more", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match: 1\r\nIf-None-Match: 2\r\n"},
	{"a tag less", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\n"},
	{"a folded tag", false, "Host: h\r\nIf-None-Match: 1\r\n", "Host: h\r\nIf-None-Match: 1\r\n 2\r\n"},
	{"another name of a request", true, "Host: h\r\nIdempotency-Key: 1\r\n", "Host: h\r\nIdempotency-Key: 2\r\n"},
	{"another key", true, "Host: h\r\nX-Api-Key: 1\r\n", "Host: h\r\nX-Api-Key: 2\r\n"},
	{"the key twice", false, "Host: h\r\nX-Api-Key: 1\r\n", "Host: h\r\nX-Api-Key: 1\r\nX-Api-Key: 2\r\n"},
	{"another length", true, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 3\r\n"},
	{"another length and another key", true, "Idempotency-Key: 1\r\nContent-Length: 4\r\nHost: h\r\n", "Idempotency-Key: 2\r\nContent-Length: 0\r\nHost: h\r\n"},
	{"a length with zeros", true, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 004\r\n"},
	{"a length with a plus", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: +4\r\n"},
	{"a negative length", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: -4\r\n"},
	{"a list of lengths", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 4, 4\r\n"},
	{"a hexadecimal length", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 0x4\r\n"},
	{"an empty length", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length:\r\n"},
	{"a length that is none", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 18446744073709551620\r\n"},
	{"a length of more than is there", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 400\r\n"},
	{"a length of more than there is anywhere", false, "Host: h\r\nContent-Eength: 4\r\n", "Host: h\r\nContent-Length: 18446744551620\r\n"},
	{"one of two lengths", false, "Host: h\r\nContent-Length: 4\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 4\r\nContent-Length: 3\r\n"},
	{"both of two lengths", false, "Host: h\r\nContent-Length: 4\r\nContent-Length: 4\r\n", "Host: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n"},
	{"one of two lengths beside a pragma", false, "Host: h\r\nPragma: no-cache\r\nContent-Length: 4\r\nContent-Length: 4\r\n", "Host: h\r\nPragma: no-cache\r\nContent-Length: 4\r\nContent-Length: 3\r\n"},
	{"chunks in place of a length", false, "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\nTransfer-Encoding: chunked\r\n"},
	{"a wish to close", false, "Host: h\r\nConnection: keep-alive\r\n", "Host: h\r\nConnection: close\r\n"},
	{"the same lines in another order", false, "Host: h\r\nA: b\r\n", "A: b\r\nHost: h\r\n"},
}

// A head is known when nothing of it is new but values that may change. Whether it is known or not, the request is what net/http reads.
func TestHeadersThatAreKnown(t *testing.T) {
	for _, c := range sameHeaders {
		t.Run(c.name, func(t *testing.T) {
			for _, first := range []string{"GET /echo", "POST /unread"} {
				for _, second := range []string{"GET /echo?a=b", "POST /partly", "PUT /closed", "DELETE /%41"} {
					firstHead, secondHead := first+" HTTP/1.1\r\n"+c.first+"\r\n", second+" HTTP/1.1\r\n"+c.second+"\r\n"
					compare(t, []string{firstHead + "body", secondHead + "body", get + "\r\n"})
					compare(t, []string{firstHead + "body" + secondHead + "body" + firstHead + "body" + secondHead + "body"})
				}
			}
		})
		if got := known(t, "POST /first HTTP/1.1\r\n"+c.first+"\r\n", "POST /second HTTP/1.1\r\n"+c.second+"\r\n"); got != c.known {
			t.Errorf("%s: known: %v, want %v", c.name, got, c.known)
		}
	}
}

// known reports whether the second request's headers were made of the first one's, in which its handler puts one that was not sent. (A
// handler that does so makes a mistake.)
func known(t *testing.T, first, second string) (known bool) {
	synctest.Test(t, func(t *testing.T) {
		var probes []int
		server := plainhttp.New(newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if !plainly(r) {
				return
			}
			r.Header["Probe"] = append(r.Header["Probe"], r.URL.Path)
			probes = append(probes, len(r.Header["Probe"]))
		})), everything)
		c := piped(t, server)
		go func() { _, _ = io.Copy(io.Discard, c) }()
		for _, request := range []string{first, second} {
			length := 0
			if _, text, ok := strings.Cut(request, "Content-Length: "); ok {
				_, _ = fmt.Sscan(text, &length)
			}
			_, _ = io.WriteString(c, request+strings.Repeat("b", min(max(length, 0), 100)))
			synctest.Wait()
		}
		known = slices.Equal(probes, []int{1, 2})
	})
	return known
}

// FuzzTheSameLine is for first lines that are read differently when the headers below them are known.
func FuzzTheSameLine(f *testing.F) {
	for _, c := range conversations {
		line, _, _ := strings.Cut(c.packets[0], "\r\n")
		f.Add(line)
	}
	for _, uri := range []string{"/", "//", "/?", "/??", "/a?b?c", "/echo#b?c", "/%2f", "/a;b", "/a:b", "/echo/../unread", "/~a", "/*", "/a?%zz#", "/\\", "/[::1]", "http:/a"} {
		f.Add("GET " + uri + " HTTP/1.1")
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 3000 {
			return
		}
		compare(t, []string{get + "\r\n", line + "\r\nHost: h\r\n\r\n", get + "\r\n"})
	})
}

// FuzzTheSameHeaders is for headers that are taken for known and are not.
func FuzzTheSameHeaders(f *testing.F) {
	for _, c := range sameHeaders {
		f.Add(c.first, c.second)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(first)+len(second) > 3000 {
			return
		}
		line := "POST /echo HTTP/1.1\r\n"
		compare(t, []string{line + first + "\r\nbody", line + second + "\r\nbody", line + first + "\r\nbody"})
	})
}

// A server may give each plain request a context of its own, made of the one that ends with it.
func TestAContextForEachRequest(t *testing.T) {
	type name struct{}
	synctest.Test(t, func(t *testing.T) {
		var contexts []context.Context
		server := plainhttp.New(newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			contexts = append(contexts, r.Context())
			if err := r.Context().Err(); err != nil {
				t.Errorf("during the request: %v", err)
			}
		})), everything)
		server.Context = func(ctx context.Context, began time.Time) context.Context {
			if !began.Equal(time.Now()) { // in a bubble the clock stands still
				t.Errorf("it began at %v", began)
			}
			return context.WithValue(ctx, name{}, len(contexts)+1)
		}
		talk(t, server, []string{get + "\r\n", get + "\r\n"})
		if len(contexts) != 2 {
			t.Fatalf("%d requests", len(contexts))
		}
		for i, ctx := range contexts {
			if ctx.Value(name{}) != i+1 || ctx.Err() == nil {
				t.Errorf("request %d has the context of %v, and after it %v", i+1, ctx.Value(name{}), ctx.Err())
			}
		}
	})
}
