package card

import "testing"

func BenchmarkSVG(b *testing.B) {
	for b.Loop() {
		SVG(ada, Auto)
	}
}

func BenchmarkPNG(b *testing.B) {
	for b.Loop() {
		if _, err := PNG(ada, Dark); err != nil {
			b.Fatal(err)
		}
	}
}
