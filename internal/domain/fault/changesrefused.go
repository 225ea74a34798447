package fault

import (
	"errors"
	"strings"
)

// changesRefused explains the first word with which a Redis that answers reads refuses a change.
var changesRefused = map[string]string{
	"OOM":        "its memory is full",
	"MISCONF":    "it cannot write to its disk",
	"NOREPLICAS": "it has too few replicas",
	"READONLY":   "it is a replica",
}

// ChangesRefused returns why Redis refuses changes while it answers reads, by its answer in err's chain; "" if it does not.
func ChangesRefused(err error) string {
	var answer interface {
		error
		RedisError()
	}
	if !errors.As(err, &answer) {
		return ""
	}
	word, _, _ := strings.Cut(answer.Error(), " ")
	return changesRefused[word]
}
