package httpapi

import (
	"math"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/gin-gonic/gin"
)

// FuzzOnlyInt holds the short way to read a page's number to the strict one.
func FuzzOnlyInt(f *testing.F) {
	for _, query := range []string{
		"page=1", "page=10", "page=0", "page=01", "page=", "page", "page=1&page=1", "page=1&a=b", "page=+1", "page=-1", "page=1%30", "pag%65=1", "page=1;", "page=1#",
		"pages=1", "page=999999999999999999", "page=9223372036854775807", "page=9223372036854775808", "Page=1", "page=1.0", "page=1 ", "page==1", "page=\u0661", "",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		n, ok := onlyInt(asked, "page")
		if !ok {
			return
		}
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("GET", "/", nil)
		c.Request.URL.RawQuery = asked
		values, err := query(c)
		if err != nil {
			t.Fatalf("%q is %d, and %v", asked, n, err)
		}
		if want, err := queryInt(values, "page", 1, math.MaxInt64); n != want || err != nil {
			t.Fatalf("%q is %d, and %d (%v)", asked, n, want, err)
		}
	})
}

func TestOnlyIntReadsWhatPagesAreAskedFor(t *testing.T) {
	for _, n := range []int64{1, 7, 10, 100, 99999, 999999999999999999} {
		if got, ok := onlyInt("page="+strconv.FormatInt(n, 10), "page"); !ok || got != n {
			t.Errorf("%d is %d, %v", n, got, ok)
		}
	}
}
