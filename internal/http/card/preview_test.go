package card

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
)

// someBoard returns a board with names of every length and script.
func someBoard(top int) Board {
	b := Board{GuildID: "731884926511480832", Guild: "Gopher Garden", Members: 6251, Ranked: 5000}
	for i, name := range []string{"The Idle Biscuit", "Маша Иванова " + strings.Repeat("W", 90), "مريم"}[:top] {
		b.Top = append(b.Top, Data{UserID: fmt.Sprint(i), GlobalName: name, Username: "name", Rank: int64(i + 1), Level: 10000 - i, XP: 2147483647 - int64(i)})
	}
	return b
}

func TestAPreviewIsAPictureOfItsBoard(t *testing.T) {
	seen := map[string]bool{}
	for top := range 4 {
		drawn, err := (*Fonts)(nil).Preview(someBoard(top))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(drawn))
		if err != nil {
			t.Fatal(err)
		}
		if size := picture.Bounds().Size(); size.X != PreviewWidth || size.Y != PreviewHeight || PreviewWidth != 1200 || PreviewHeight != 630 {
			t.Errorf("the preview's size is %v, want 1200 by 630", size)
		}
		if len(drawn) > 150<<10 {
			t.Errorf("the preview has %d bytes, want at most 150 KiB", len(drawn))
		}
		if seen[string(drawn)] {
			t.Errorf("the preview of %d members is the same as of fewer", top)
		}
		seen[string(drawn)] = true
	}
}

// With any name of the board, no line leaves the picture or runs into another.
func TestNoTextLeavesThePreviewOrOverlaps(t *testing.T) {
	for _, period := range []string{"", "November 2026", strings.Repeat("Long ", 20)} {
		b := someBoard(3)
		b.Guild, b.Period = strings.Repeat("Wide ", 40), period
		s := composePreview(b, drawn(nil))
		for i, l := range s.lines {
			if l.x < 0 || l.x+l.length > previewWidth {
				t.Errorf("%q leaves the picture", l.text)
			}
			for _, other := range s.lines[:i] {
				if l.y == other.y && l.x < other.x+other.length && other.x < l.x+l.length {
					t.Errorf("%q runs into %q", l.text, other.text)
				}
			}
		}
	}
}

// The picture of a period has its name and gains, and no levels.
func TestThePreviewOfAPeriodShowsGains(t *testing.T) {
	b := someBoard(1)
	b.Period, b.Top[0].XP = "November 2026", 1500
	var said []string
	for _, l := range composePreview(b, drawn(nil)).lines {
		said = append(said, l.text)
	}
	if all := strings.Join(said, "|"); !strings.Contains(all, "|November 2026 · 5,000 on the board|") || !strings.Contains(all, "|+1,500 XP|") || strings.Contains(all, "Level ") {
		t.Errorf("the picture says %s", all)
	}
}
