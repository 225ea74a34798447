package web

import (
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/signin"
)

// seesHidden reports whether the page of a hidden member is for who is signed in: a manager, or the member.
func seesHidden(who *signin.Session, g *guild.Guild, user id.User) bool {
	return who.Manages(g) || who != nil && who.User.ID == user
}
