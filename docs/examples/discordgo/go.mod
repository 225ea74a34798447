module example.org/levelboard-bot

go 1.26.8

require (
	github.com/bwmarrin/discordgo v0.29.0
	github.com/go-resty/resty/v2 v2.17.2 // repeats calls
	github.com/tmaxmax/go-sse v0.12.0 // reads streams
)

require (
	github.com/gorilla/websocket v1.4.2 // indirect
	golang.org/x/crypto v0.41.0 // indirect
	golang.org/x/net v0.43.0 // indirect
	golang.org/x/sys v0.35.0 // indirect
)
