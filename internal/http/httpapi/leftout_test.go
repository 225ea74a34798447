package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
)

// Gin refers to modules that go.mod replaces (internal/unused): what would need them fails with words, and does not panic.
func TestWhatIsLeftOutOfTheBuildSaysSo(t *testing.T) {
	c, engine := gin.CreateTestContext(httptest.NewRecorder())
	c.BSON(200, gin.H{})
	for what, err := range map[string]error{
		"HTTP/3": engine.RunQUIC("127.0.0.1:0", "", ""),
		"BSON":   binding.BSON.Bind(httptest.NewRequest("POST", "/", strings.NewReader("{}")), &gin.H{}),
		"BSON ":  c.Errors.Last(),
	} {
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(what)+" is not part of this build") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
