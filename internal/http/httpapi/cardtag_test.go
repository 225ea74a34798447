package httpapi

import (
	"log/slog"
	"runtime"
	"testing"

	"levelboard/internal/http/card"
)

func TestTheETagOfAPNGNamesTheFonts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test's fonts are those of Linux")
	}
	fonts, err := card.OpenFonts("/usr/share/fonts", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[cardFormat]bool{cardPNG: true, cardSVG: false} {
		with, _ := picture{format: format}.etag(fonts)
		without, _ := picture{format: format}.etag(nil)
		if (with != without) != want {
			t.Errorf("the ETag of a %s is %s with fonts and %s without, want them different: %v", format, with, without, want)
		}
	}
}
