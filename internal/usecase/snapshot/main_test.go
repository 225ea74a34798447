package snapshot_test

import (
	"testing"

	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
