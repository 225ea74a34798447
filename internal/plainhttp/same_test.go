package plainhttp_test

import (
	"fmt"
	"strings"
	"testing"
)

const get = "GET /echo HTTP/1.1\r\nHost: h\r\n"

var long = strings.Repeat("a", 3000)

// conversations are packets on one connection, and how many of the requests in them are plain.
var conversations = []struct {
	name    string
	plain   int
	packets []string
}{
	{"get", 1, []string{get + "\r\n"}},
	{"a query", 1, []string{"GET /echo/%41?a=b&c=%20 HTTP/1.1\r\nHost: h:80\r\n\r\n"}},
	{"post", 1, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: a/b\r\nContent-Length: 4\r\n\r\nbody"}},
	{"patch", 1, []string{"PATCH /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"}},
	{"put", 1, []string{"PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"}},
	{"delete", 1, []string{"DELETE /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"delete with a body", 1, []string{"DELETE /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"}},
	{"get with a body", 1, []string{get + "Content-Length: 4\r\n\r\nbody"}},
	{"post without a body", 1, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"}},
	{"post without a length", 1, []string{"POST /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"head", 0, []string{"HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"options", 0, []string{"OPTIONS /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"options of all", 0, []string{"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"get of all", 0, []string{"GET * HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"connect", 0, []string{"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"an invented method", 0, []string{"BREW /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a method in small letters", 0, []string{"get /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"the same header twice", 1, []string{get + "A: 1\r\nA: 2\r\na: 3\r\n\r\n"}},
	{"pragma", 1, []string{get + "Pragma: no-cache\r\n\r\n"}},
	{"an empty value", 1, []string{get + "A:\r\nB: \r\nC:   c  \r\n\r\n"}},

	{"one after the other", 3, []string{get + "\r\n", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody", get + "\r\n"}},
	{"two at once", 2, []string{get + "A: 1\r\n\r\n" + get + "A: 2\r\n\r\n"}},
	{"twenty at once", 20, []string{strings.Repeat("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"+get+"\r\n", 10)}},
	{"many bodies unread", 6, []string{strings.Repeat("POST /unread HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nGET POST /partly HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"+
		"POST /closed HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody", 2)}},
	{"plain, not plain, plain", 1, []string{get + "\r\n" + "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n" + get + "\r\n"}},
	{"the last one cut by the buffer", 2, []string{get + "\r\n" + get + "A: " + long + "\r\n\r\n" + get + "A: " + long + "\r\n\r\n" + get + "\r\n"}},
	{"the second in two packets", 1, []string{get + "\r\n" + get[:10], get[10:] + "\r\n", get + "\r\n"}},
	{"a body in two packets after a plain request", 1, []string{get + "\r\n" + "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo", "dy" + get + "\r\n"}},
	{"a plain request, then three bytes", 2, []string{get + "\r\n", "GET", get[3:] + "\r\n"}},
	{"a plain request, then one byte and another", 2, []string{get + "\r\n", "G", "E", get[2:] + "\r\n"}},
	{"empty lines after a post", 2, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody\r\n" + get + "\r\n"}},
	{"empty lines after a post, later", 1, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody\r\n", "\r\n", get + "\r\n"}},
	{"too many empty lines after a post", 1, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody\r\n\r\n\r\n" + get + "\r\n"}},
	{"empty lines after a put", 1, []string{"PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody\r\n" + get + "\r\n"}},

	{"a head in two packets", 0, []string{get[:20], get[20:] + "\r\n", get + "\r\n"}},
	{"a head cut in its last line", 0, []string{get + "\r", "\n"}},
	{"a head byte by byte", 0, strings.Split(get+"\r\n", "")},
	{"a body after its head", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n", "body"}},
	{"a body in two", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nb", "ody"}},
	{"a body that does not come", 0, []string{"POST /unread HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nb"}},
	{"chunked", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n" + get + "\r\n"}},
	{"chunked and a length", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n" + get + "\r\n"}},
	{"trailers", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nA: b\r\n\r\n" + get + "\r\n"}},
	{"identity", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nbody" + get + "\r\n"}},
	{"gzip, chunked", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + get + "\r\n"}},
	{"encoded twice", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get + "\r\n"}},
	{"expect", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", "body"}},
	{"expect at once", 0, []string{"POST /unread HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody" + get + "\r\n"}},
	{"expect something else", 0, []string{get + "Expect: much\r\n\r\n"}},

	{"close", 0, []string{get + "Connection: close\r\n\r\n" + get + "\r\n"}},
	{"keep-alive", 2, []string{get + "Connection: keep-alive\r\n\r\n" + get + "Connection: Keep-Alive\r\n\r\n"}},
	{"keep-alive and close", 0, []string{get + "Connection: keep-alive\r\nConnection: close\r\n\r\n" + get + "\r\n"}},
	{"keep-alive, close", 0, []string{get + "Connection: keep-alive, close\r\n\r\n" + get + "\r\n"}},
	{"upgrade", 0, []string{get + "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"}},
	{"http2", 0, []string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}},
	{"http2 later", 1, []string{get + "\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}},
	{"1.0", 0, []string{"GET /echo HTTP/1.0\r\n\r\n"}},
	{"1.0 with a host", 0, []string{"GET /echo HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n" + get + "\r\n"}},
	{"1.2", 0, []string{"GET /echo HTTP/1.2\r\nHost: h\r\n\r\n"}},
	{"2.0", 0, []string{"GET /echo HTTP/2.0\r\nHost: h\r\n\r\n"}},
	{"0.9", 0, []string{"GET /echo\r\n\r\n"}},
	{"no version that there is", 0, []string{"GET /echo HTTP/1.01\r\nHost: h\r\n\r\n"}},

	{"no host", 0, []string{"GET /echo HTTP/1.1\r\n\r\n"}},
	{"an empty host", 0, []string{"GET /echo HTTP/1.1\r\nHost:\r\n\r\n"}},
	{"two hosts", 0, []string{get + "Host: h\r\n\r\n"}},
	{"a host with a space", 0, []string{"GET /echo HTTP/1.1\r\nHost: h i\r\n\r\n"}},
	{"a host with a slash", 0, []string{"GET /echo HTTP/1.1\r\nHost: h/i\r\n\r\n"}},
	{"a host with a user", 0, []string{"GET /echo HTTP/1.1\r\nHost: u@h\r\n\r\n"}},
	{"a host that is an address", 1, []string{"GET /echo HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"}},
	{"a whole address", 0, []string{"GET http://other/echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a whole address without a host", 0, []string{"GET http://other/echo HTTP/1.1\r\n\r\n"}},
	{"an address of two slashes", 1, []string{"GET //other/echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"no slash", 0, []string{"GET echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a fragment", 1, []string{"GET /echo#a HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a bad escape", 0, []string{"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a bad escape later", 1, []string{get + "\r\nGET /%zz HTTP/1.1\r\nHost: h\r\n\r\n" + get + "\r\n"}},
	{"a bad escape in the query", 1, []string{"GET /echo?%zz HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"two spaces", 0, []string{"GET  /echo HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a space in the address", 0, []string{"GET /echo /b HTTP/1.1\r\nHost: h\r\n\r\n"}},

	{"a space before the colon", 0, []string{get + "A : 1\r\n\r\n"}},
	{"a space in a name", 0, []string{get + "A B: 1\r\n\r\n"}},
	{"a length with a space before the colon", 0, []string{get + "Content-Length : 4\r\n\r\nbody" + get + "\r\n"}},
	{"an underscore", 0, []string{get + "Content_Length: 4\r\n\r\n"}},
	{"no name", 0, []string{get + ": 1\r\n\r\n"}},
	{"no colon", 0, []string{get + "A\r\n\r\n"}},
	{"a folded line", 0, []string{get + "A: 1\r\n 2\r\n\r\n"}},
	{"a folded first line", 0, []string{"GET /echo HTTP/1.1\r\n Host: h\r\n\r\n"}},
	{"bare line feeds", 0, []string{"GET /echo HTTP/1.1\nHost: h\n\n"}},
	{"a bare line feed", 0, []string{"GET /echo HTTP/1.1\r\nHost: h\nA: 1\r\n\r\n"}},
	{"a bare line feed as the end", 0, []string{get + "\n" + get + "\r\n"}},
	{"a bare carriage return", 0, []string{get + "A: 1\r2\r\n\r\n"}},
	{"two carriage returns", 0, []string{get + "A: 1\r\r\n\r\n"}},
	{"NUL in a value", 0, []string{get + "A: \x00\r\n\r\n"}},
	{"NUL in a name", 0, []string{get + "A\x00: 1\r\n\r\n"}},
	{"NUL in the address", 0, []string{"GET /echo\x00 HTTP/1.1\r\nHost: h\r\n\r\n"}},
	{"a control character", 0, []string{get + "A: \x01\r\n\r\n"}},
	{"DEL", 0, []string{get + "A: \x7f\r\n\r\n"}},
	{"a tab", 0, []string{get + "A: \tb\tc\r\n\r\n"}},
	{"not ASCII", 0, []string{get + "A: ä\xff\r\n\r\n"}},
	{"not ASCII in the address", 0, []string{"GET /echo/ä HTTP/1.1\r\nHost: h\r\n\r\n"}},

	{"the length twice", 1, []string{get + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody" + get + "A: b\r"}},
	{"two lengths", 0, []string{get + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody" + get + "\r\n"}},
	{"a list of lengths", 0, []string{get + "Content-Length: 4, 4\r\n\r\nbody" + get + "\r\n"}},
	{"a length with a plus", 0, []string{get + "Content-Length: +4\r\n\r\nbody" + get + "\r\n"}},
	{"a negative length", 0, []string{get + "Content-Length: -4\r\n\r\nbody" + get + "\r\n"}},
	{"a length with zeros", 2, []string{get + "Content-Length: 004\r\n\r\nbody" + get + "\r\n"}},
	{"a hexadecimal length", 0, []string{get + "Content-Length: 0x4\r\n\r\nbody" + get + "\r\n"}},
	{"an empty length", 0, []string{get + "Content-Length:\r\n\r\nbody" + get + "\r\n"}},
	{"a length that is none", 0, []string{get + "Content-Length: 18446744073709551620\r\n\r\nbody" + get + "\r\n"}},
	{"a short length", 1, []string{get + "Content-Length: 3\r\n\r\nbody" + get + "\r\n"}},
	{"an empty line first", 0, []string{"\r\n" + get + "\r\n"}},
	{"an empty line after a get", 1, []string{get + "\r\n\r\n" + get + "\r\n"}},
	{"an empty packet of a line", 0, []string{"\r\n\r\n", get + "\r\n"}},
	{"a head of 4 KB", 0, []string{get + "A: " + long + "\r\nB: " + long + "\r\n\r\n" + get + "\r\n"}},
	{"a head of 40 KB", 0, []string{get + "A: " + strings.Repeat("a", 40<<10) + "\r\n\r\n" + get + "\r\n"}},
	{"a head of 40 KB later", 1, []string{get + "\r\n", get + "A: " + strings.Repeat("a", 40<<10) + "\r\n\r\n" + get + "\r\n"}},
	{"a body of 4 KB", 0, []string{"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 6000\r\n\r\n" + long + long + get + "\r\n"}},
	{"nonsense", 0, []string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"}},
}

// Whatever arrives, the answers are those of net/http, and the connection is closed where it closes it.
func TestTheSameAnswersAsNetHTTP(t *testing.T) {
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			if _, plain := compare(t, c.packets); plain != c.plain {
				t.Errorf("%q: %d requests were answered plainly, want %d", c.packets, plain, c.plain)
			}
		})
	}
}

// Whatever a handler does, the answer is what net/http makes of it, and the next request is answered where net/http does.
func TestTheSameOfWhatHandlersDo(t *testing.T) {
	for name := range handlers {
		t.Run(name, func(t *testing.T) {
			for _, request := range []string{
				"GET /%s HTTP/1.1\r\nHost: h\r\n\r\n",
				"POST /%s HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody",
			} {
				request = fmt.Sprintf(request, name)
				if _, plain := compare(t, []string{request, request, get + "\r\n"}); plain == 0 {
					t.Error("no request was answered plainly")
				}
				compare(t, []string{request + request + get + "\r\n"})
			}
		})
	}
}
