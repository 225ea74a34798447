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
	"a page in memory is packed": packedPage,
	"a client that takes none":   notPacked,
}

// pageAs asks for page 1 with this Accept-Encoding and returns the answer, unpacked, and how it was packed.
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

// packed asks for page 1 until it is packed, which is when it is asked for again.
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
		t.Fatalf("packed as %s", packing)
	}
	got := s.packed(g)
	if !bytes.Equal(got.Body, plain.Body) {
		t.Errorf("unpacked it is %s, want %s", got.Body, plain.Body)
	}
	wantHeader(t, got, "Content-Type", plain.Header.Get("Content-Type"))
	// A strong ETag would be one of bytes, and it is weak before the page is packed, too: nothing has changed.
	tag, plainTag := got.Header.Get("ETag"), plain.Header.Get("ETag")
	if tag != "W/"+plainTag {
		t.Errorf("the ETags are %s, gzipped, and %s", tag, plainTag)
	}
	fresh := s.guild(nil)
	s.fill(s.key(fresh), fresh, 60)
	if first, packing := s.pageAs("GET", fresh, "gzip"); packing != "" || first.Header.Get("ETag") != s.packed(fresh).Header.Get("ETag") {
		t.Errorf("the first answer, packed as %q, has the ETag %s, and one of the next another", packing, first.Header.Get("ETag"))
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
		t.Errorf("HEAD: %v", head.Header)
	}
}

func notPacked(t *testing.T, s *service) {
	g, few := s.guild(nil), s.guild(nil)
	s.fill(s.key(g), g, 60)
	s.fill(s.key(few), few, 2)
	s.packed(g)
	for _, accept := range []string{"identity", "br", "gzip;q=0", ""} {
		if got, packing := s.pageAs("GET", g, accept); packing != "" {
			t.Errorf("Accept-Encoding %q is answered with %s: %v", accept, packing, got.Header)
		}
	}
	for range 3 {
		if got, packing := s.pageAs("GET", few, "gzip"); packing != "" || got.Header.Get("ETag")[0] != '"' {
			t.Errorf("a page that fits into a packet is packed as %q, or may be: its ETag is %s", packing, got.Header.Get("ETag"))
		}
	}
}
