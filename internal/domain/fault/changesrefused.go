package fault

import (
	"errors"
	"strings"
)

// changesRefused are the first words with which a Redis that answers reads refuses a change.
var changesRefused = map[string]string{
	"OOM":        "its memory is full",
	"MISCONF":    "it cannot write to its disk",
	"NOREPLICAS": "it has too few replicas",
	"READONLY":   "it is a replica",
}

// ChangesRefused says why the Redis whose answer is in err's chain refuses changes while it answers reads, or "".
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
