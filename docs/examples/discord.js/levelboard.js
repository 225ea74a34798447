// A client of Levelboard: calls that back off and may be repeated, and the stream of a guild's events.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const base = process.env.LEVELBOARD_URL ?? 'http://127.0.0.1:8080';
const auth = { 'X-Api-Key': process.env.LEVELBOARD_KEY };
export const pause = seconds => sleep(1000 * seconds);
const whole = async r => Object.assign(r, { content: Buffer.from(await r.arrayBuffer()) }); // fails if it is cut off
let last = Promise.resolve();

// call sends a request after those before it, so that one 429 stops them all, and returns the answer, which is 2xx.
export function call(method, path, body) {
  return last = last.catch(() => {}).then(() => attempt(method, path, body, randomUUID()));
}

// attempt repeats a request as long as that may help. Under one Idempotency-Key, a change is made once.
async function attempt(method, path, body, id) {
  const headers = { ...auth, 'Content-Type': 'application/json', 'Idempotency-Key': id };
  for (let n = 1, wait = 0.5; ; n++) {
    const signal = AbortSignal.timeout(20e3);
    const r = await fetch(base + path, { method, headers, body: JSON.stringify(body), signal }).then(whole).catch(() => null);
    const limit = Number(r?.headers.get('X-RateLimit-Limit'));
    if (r?.ok && Number(r.headers.get('X-RateLimit-Remaining')) < limit / 10) await pause(60 / limit); // refills by one
    if (r?.ok) return r;
    if ((r && r.status !== 429 && r.status < 500) || n === 9) {
      throw new Error(`${method} ${path}: ${r?.status} ${r?.content}, attempt ${n}`);
    }
    wait = Math.max(Number(r?.headers.get('Retry-After')) || 1, Math.min(60, 2 * wait));
    await pause(wait + Math.random() / 2);
  }
}

// follow calls apply(id, event, data) for each event of a guild, in order, and resumes after state.id.
export async function follow(guildId, state, apply) {
  for (let wait = 1; ; wait = Math.min(60, 2 * wait), await pause(wait + Math.random())) {
    const silence = new AbortController(), watch = setTimeout(() => silence.abort(), 30e3);
    try {
      const headers = state.id ? { ...auth, 'Last-Event-ID': state.id } : auth;
      const r = await fetch(`${base}/v2/guilds/${guildId}/events`, { headers, signal: silence.signal });
      if (!r.ok) wait = Math.max(wait, Number(r.headers.get('Retry-After')) || 60);
      if (!r.ok) throw new Error(r.statusText);
      let rest = '';
      for await (const text of r.body.pipeThrough(new TextDecoderStream())) {
        watch.refresh();
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop();
        for (const block of blocks) {
          const { id, event, data } = Object.fromEntries(block.split('\n').map(line => line.split(/: (.*)/)));
          if (id) await apply(id, event, JSON.parse(data ?? '{}')).catch(err => { wait = 60; throw err; });
          if (id) wait = 1;
        }
      }
    } catch (err) {
      console.error(`events of ${guildId}: ${err.message}`);
    } finally {
      clearTimeout(watch);
    }
  }
}
