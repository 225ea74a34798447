package signin_test

import (
	"testing"

	"levelboard/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
