package app_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

var gzipCases = cases{
	"a cached page is sent as gzip": packedPage,
	"other clients get it plain":    notPacked,
}

// pageAs requests page 1 with this Accept-Encoding and returns the unpacked answer and its Content-Encoding.
func (s *service) pageAs(method, g, accept string, options ...apitest.Option) (got apitest.Response, packed string) {
	s.t.Helper()
	got, err := s.quick(method, boardPath(g, 1), "", "", append(options, apitest.Header("Accept-Encoding", accept))...)
	if err != nil {
		s.t.Fatal(err)
	}
	if got.Status == 200 {
		wantHeader(s.t, got, "Vary", "Origin, Accept-Encoding, X-Api-Key")
	}
	packed = got.Header.Get("Content-Encoding")
	if packed == "" || method == "HEAD" {
		return got, packed
	}
	wantHeader(s.t, got, "Content-Length", strconv.Itoa(len(got.Body)))
	r, err := gzip.NewReader(bytes.NewReader(got.Body))
	if err != nil {
		s.t.Fatal(err)
	}
	if got.Body, err = io.ReadAll(r); err != nil {
		s.t.Fatal(err)
	}
	return got, packed
}

// packed requests page 1 until the answer is gzip, which takes a second request.
func (s *service) packed(g string) apitest.Response {
	s.t.Helper()
	var got apitest.Response
	testenv.Wait(s.t, "the page is packed", func() (yes bool) {
		var packed string
		got, packed = s.pageAs("GET", g, "gzip, deflate, br, zstd")
		return packed == "gzip"
	})
	return got
}

func packedPage(t *testing.T, s *service) {
	g := s.guild(nil)
	s.fill(s.key(g), g, 60)
	plain, packing := s.pageAs("GET", g, "identity")
	if packing != "" {
		t.Fatalf("a client without Accept-Encoding got Content-Encoding %s", packing)
	}
	got := s.packed(g)
	if !bytes.Equal(got.Body, plain.Body) {
		t.Errorf("the unpacked page is %s, want %s", got.Body, plain.Body)
	}
	wantHeader(t, got, "Content-Type", plain.Header.Get("Content-Type"))
	// A strong ETag would stand for bytes, so gzip's is weak. It is weak before the page is packed too, because nothing has changed.
	tag, plainTag := got.Header.Get("ETag"), plain.Header.Get("ETag")
	if tag != "W/"+plainTag {
		t.Errorf("the gzip page's ETag is %s, want W/ and the plain page's %s", tag, plainTag)
	}
	fresh := s.guild(nil)
	s.fill(s.key(fresh), fresh, 60)
	if first, packing := s.pageAs("GET", fresh, "gzip"); packing != "" || first.Header.Get("ETag") != s.packed(fresh).Header.Get("ETag") {
		t.Errorf("the first answer, with Content-Encoding %q, has the ETag %s, want no encoding and the later ETag", packing, first.Header.Get("ETag"))
	}
	for _, accept := range []string{"gzip", "identity"} {
		for _, has := range []string{tag, plainTag} {
			unchanged, _ := s.pageAs("GET", g, accept, apitest.Header("If-None-Match", `"x", `+has))
			wantNoBody(t, unchanged.Want(t, 304))
			wantHeader(t, unchanged, "ETag", has)
			wantHeader(t, unchanged, "Vary", "Origin, Accept-Encoding, X-Api-Key")
		}
	}
	head, packing := s.pageAs("HEAD", g, "gzip")
	if packing != "gzip" || head.Header.Get("ETag") != tag || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") {
		t.Errorf("the headers of HEAD are %v, want gzip, the ETag %s and the length of GET", head.Header, tag)
	}
}

func notPacked(t *testing.T, s *service) {
	g, few := s.guild(nil), s.guild(nil)
	s.fill(s.key(g), g, 60)
	s.fill(s.key(few), few, 2)
	s.packed(g)
	for _, accept := range []string{"identity", "br", "gzip;q=0", ""} {
		if got, packing := s.pageAs("GET", g, accept); packing != "" {
			t.Errorf("Accept-Encoding %q gets Content-Encoding %s, want none: %v", accept, packing, got.Header)
		}
	}
	for range 3 {
		if got, packing := s.pageAs("GET", few, "gzip"); packing != "" || got.Header.Get("ETag")[0] != '"' {
			t.Errorf("a page that fits into a packet has Content-Encoding %q and ETag %s, want none and a strong one", packing, got.Header.Get("ETag"))
		}
	}
}
