module example.org/levelboard-bot

go 1.26.8

require (
	github.com/bwmarrin/discordgo v0.29.0
	github.com/hashicorp/go-retryablehttp v0.7.8
)

require (
	github.com/gorilla/websocket v1.4.2 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	golang.org/x/crypto v0.0.0-20210421170649-83a5a9bb288b // indirect
	golang.org/x/sys v0.20.0 // indirect
)
