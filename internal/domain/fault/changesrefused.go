package fault

import (
	"errors"
	"strings"
)

// changesRefused maps the first word of Redis' answer to the reason why it rejects changes but answers reads.
var changesRefused = map[string]string{
	"OOM":        "its memory is full",
	"MISCONF":    "it cannot write to its disk",
	"NOREPLICAS": "it has too few replicas",
	"READONLY":   "it is a replica",
}

// ChangesRefused returns why Redis rejects changes but answers reads, by Redis' answer in err's chain, or "" for another error.
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
