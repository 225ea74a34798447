package httpapi

import (
	"log/slog"
	"runtime"
	"testing"

	"levelboard/internal/http/card"
)

func TestTheTagOfAPNGNamesTheFonts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the fonts are those of Linux")
	}
	fonts, err := card.OpenFonts("/usr/share/fonts", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[cardFormat]bool{cardPNG: true, cardSVG: false} {
		with, _ := picture{format: format}.etag(fonts)
		without, _ := picture{format: format}.etag(nil)
		if (with != without) != want {
			t.Errorf("%s: %s and %s", format, with, without)
		}
	}
}
