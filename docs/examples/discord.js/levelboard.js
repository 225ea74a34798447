// A client of Levelboard: calls that back off and may be repeated, and the stream of a guild's events.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const base = process.env.LEVELBOARD_URL ?? 'http://127.0.0.1:8080';
const auth = { 'X-Api-Key': process.env.LEVELBOARD_KEY };
export const pause = seconds => sleep(1000 * seconds);
let last = Promise.resolve();

// call sends a request after those before it, so that one 429 stops them all, and returns the answer; it fails for any but 2xx. A change
// has an Idempotency-Key, under which it is made once however often it is sent.
export function call(method, path, body) {
  const answer = last.then(() => attempt(method, path, body, randomUUID()));
  last = answer.then(nearlyUsed, () => {});
  return answer;
}

async function attempt(method, path, body, id) {
  const headers = { ...auth };
  if (method !== 'GET') Object.assign(headers, { 'Content-Type': 'application/json', 'Idempotency-Key': id });
  for (let n = 1, wait = 0.5; ; n++) {
    const r = await fetch(base + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(20e3) }).catch(() => null);
    if (r?.ok) return r;
    if ((r && r.status !== 429 && r.status !== 503) || n === 9) {
      const { message } = (await r?.json().catch(() => null)) ?? {};
      throw Object.assign(new Error(`${method} ${path}: ${r?.status ?? 'no answer'} ${message ?? ''}, attempt ${n}`), { status: r?.status });
    }
    const asked = Number(r?.headers.get('Retry-After')) || 1;
    wait = r?.status === 429 ? asked : Math.min(60, Math.max(asked, 2 * wait));
    await pause(wait + Math.random() / 2);
  }
}

// nearlyUsed waits for the budget to refill by one once less than a tenth of it is left.
function nearlyUsed(r) {
  const limit = Number(r.headers.get('X-RateLimit-Limit'));
  if (Number(r.headers.get('X-RateLimit-Remaining')) < limit / 10) return pause(60 / limit);
}

// follow calls apply(event, data) for each event of a guild, one after the other, and resumes behind state.id, which save keeps.
export async function follow(guildId, state, save, apply) {
  for (;;) {
    let wait = 2;
    const silence = new AbortController();
    const watch = setTimeout(() => silence.abort(), 30e3);
    try {
      const headers = state.id ? { ...auth, 'Last-Event-ID': state.id } : auth;
      const r = await fetch(`${base}/v2/guilds/${guildId}/events`, { headers, signal: silence.signal });
      if (!r.ok) wait = Number(r.headers.get('Retry-After')) || 60;
      if (!r.ok) throw new Error(`${r.status} ${await r.text()}`);
      let event = {}, rest = '';
      for await (const text of r.body.pipeThrough(new TextDecoderStream())) {
        watch.refresh();
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          const [, name, value] = /^(id|event|data): (.*)$/.exec(line) ?? [];
          if (name) event[name] = value;
          if (line !== '') continue;
          if (event.event) await apply(event.event, JSON.parse(event.data));
          if (event.id) save(Object.assign(state, { id: event.id }));
          event = {};
        }
      }
    } catch (err) {
      console.error(`events of ${guildId}: ${err.message}`);
    } finally {
      clearTimeout(watch);
    }
    await pause(wait);
  }
}
