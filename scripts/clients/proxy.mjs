// Sends the requests of discord.js through HTTPS_PROXY: Node.js 20 does not do so by itself.
import { EnvHttpProxyAgent, setGlobalDispatcher } from 'undici';

setGlobalDispatcher(new EnvHttpProxyAgent());
