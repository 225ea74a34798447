package httpapi

import (
	"fmt"
	"strings"
)

// busyBody returns a body of n messages as a bot sends them: about 180 bytes each, one in four with user data.
func busyBody(n int) []byte {
	var body strings.Builder
	body.WriteString(`{"messages":[`)
	for i := range n {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"userId":"%018d","channelId":"%018d","parentChannelId":"300000000000000001","roleIds":["400000000000000001","400000000000000002"]`,
			100000000000000000+i*7919%100003, 200000000000000000+i%40)
		if i%4 == 0 {
			fmt.Fprintf(&body, `,"user":{"avatar":"0123456789abcdef0123456789abcdef","discriminator":"0","username":"ada%d","globalName":"Ada Løvelace"}`, i)
		}
		body.WriteByte('}')
	}
	body.WriteString(`]}`)
	return []byte(body.String())
}
