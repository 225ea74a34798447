// A bot that keeps a community's levels in Levelboard. It needs DISCORD_TOKEN and LEVELBOARD_KEY, and LEVELBOARD_URL if the service is elsewhere.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ApplicationCommandOptionType as Type, Client, Events, GatewayIntentBits as Intents } from 'discord.js';
import { call, follow, pause } from './levelboard.js';

const client = new Client({ intents: [Intents.Guilds, Intents.GuildMembers, Intents.GuildMessages] });
const guilds = new Map(); // by id: what the next second hands over
const handover = id => guilds.get(id) ?? guilds.set(id, { messages: [], present: new Map(), changed: true, roles: Promise.resolve() }).get(id);
const report = err => console.error(err.message);
const read = async path => (await call('GET', path)).json();

client.on(Events.MessageCreate, m => {
  if (!m.inGuild() || m.author.bot || m.system) return;
  const { username, globalName, discriminator, avatar } = m.author;
  handover(m.guildId).messages.push({
    userId: m.author.id, channelId: m.channelId, parentChannelId: m.channel?.parentId ?? null,
    roleIds: [...(m.member?.roles.cache.keys() ?? [])], user: { username, globalName, discriminator, avatar },
  });
});
client.on(Events.GuildMemberAdd, m => handover(m.guild.id).present.set(m.id, true));
client.on(Events.GuildMemberRemove, m => handover(m.guild.id).present.set(m.id, false));
client.on(Events.Raw, ({ t, d }) => { // the guild, a channel or a role has changed
  if (/^(GUILD_UPDATE|(CHANNEL|GUILD_ROLE)_(CREATE|UPDATE|DELETE))$/.test(t)) handover(d.guild_id ?? d.id).changed = true;
});

// handOver sends what a second has brought. A guild whose call fails does not hold up the others.
async function handOver() {
  for (const [id, next] of guilds) {
    const { messages, present, changed } = next, path = `/v2/guilds/${id}`;
    Object.assign(next, { messages: [], present: new Map(), changed: false });
    try {
      if (changed) await call('PUT', `${path}/directory`, directory(client.guilds.cache.get(id)));
      for (const is of [true, false]) {
        const userIds = [...present.keys()].filter(user => present.get(user) === is);
        for (; userIds.length; userIds.splice(0, 1000)) await call('PUT', `${path}/presence`, { present: is, userIds: userIds.slice(0, 1000) });
      }
      for (; messages.length; messages.splice(0, 1000)) {
        const r = await call('POST', `${path}/messages`, { messages: messages.slice(0, 1000) });
        if (r.headers.has('Idempotent-Replayed')) continue; // the first answer may be old: the events have the roles
        for (const result of (await r.json()).results) if (result.leveledUp) setRoles(id, result);
      }
    } catch (err) { report(err); }
  }
}

function directory(guild) {
  const of = cache => [...cache.values()].sort((a, b) => a.rawPosition - b.rawPosition);
  return {
    name: guild.name, icon: guild.icon, memberCount: guild.memberCount,
    roles: of(guild.roles.cache).filter(r => r.id !== guild.id).slice(0, 500)
      .map(r => ({ id: r.id, name: r.name, color: r.color || null, position: r.rawPosition })),
    channels: of(guild.channels.cache).filter(c => !c.isThread()).slice(0, 1000)
      .map(c => ({ id: c.id, name: c.name, parentId: c.parentId ?? null, position: c.rawPosition, type: c.type })),
  };
}

// setRoles gives and takes a member's roles, after the changes of the guild's roles before it.
function setRoles(id, { userId, addRoles, removeRoles }) {
  const next = handover(id);
  next.roles = next.roles.then(async () => {
    const member = await client.guilds.cache.get(id)?.members.fetch(userId).catch(() => null);
    if (!member) return;
    for (const role of addRoles) if (!member.roles.cache.has(role)) await member.roles.add(role).catch(report);
    for (const role of removeRoles) if (member.roles.cache.has(role)) await member.roles.remove(role).catch(report);
  });
  return next.roles;
}

// readAgain compares the whole board with the guild: it sets roles by level, and reports who has left.
async function readAgain(guild) {
  const members = await guild.members.fetch(), roles = new Map();
  for (let page = 1, levels; page === 1 || levels.length === 100; page++) {
    ({ levels } = await read(`/v2/levels/${guild.id}?page=${page}`));
    for (const { userId, level } of levels) {
      const path = `/v2/guilds/${guild.id}/role-rewards/level?level=${level}&userId=${userId}`;
      if (!roles.has(level)) roles.set(level, await read(path));
      if (members.has(userId)) await setRoles(guild.id, { userId, ...roles.get(level) });
      else handover(guild.id).present.set(userId, false);
    }
  }
}

// announce congratulates the winners of a week, a month or a season, once.
async function announce(guild, state, { id, kind, name, winners }) {
  if (kind === 'day' || state.announced?.includes(id)) return;
  const lines = winners.slice(0, 3).map(w => `${w.rank}. <@${w.userId}> +${w.gained} XP`);
  await guild.systemChannel?.send([`**${name ?? `The ${kind} ${id}`} is over!**`, ...lines].join('\n')).catch(report);
  state.announced = [...(state.announced ?? []), id].slice(-100);
}

async function followGuild(guild) {
  handover(guild.id);
  const file = `levelboard-${guild.id}.json`;
  const save = state => { writeFileSync(`${file}.new`, JSON.stringify(state)); renameSync(`${file}.new`, file); };
  let state = {};
  try { state = JSON.parse(readFileSync(file, 'utf8')); } catch { /* the first start */ }
  await readAgain(guild).catch(report);
  await follow(guild.id, state, save, async (event, data) => {
    if (data.removeRoles) await setRoles(guild.id, { addRoles: [], ...data });
    if (event === 'period') await announce(guild, state, data);
    if (event !== 'reset') return;
    await readAgain(guild).catch(report);
    const { periods } = await read(`/v2/levels/${guild.id}/periods?page=1&kind=week`);
    const newest = periods.find(period => period.closed);
    if (newest && state.announced) await announce(guild, state, newest);
  });
}

const commands = [
  { name: 'rank', description: "A member's level and rank", options: [{ type: Type.User, name: 'member', description: 'You, if left out' }] },
  { name: 'leaderboard', description: 'The top ten', options: [{ type: Type.String, name: 'period', description: 'All time, if left out',
    choices: ['day', 'week', 'month', 'season'].map(value => ({ name: value, value })) }] },
];
const answers = {
  async rank(i) {
    const user = i.options.getUser('member') ?? i.user;
    const card = await call('GET', `/v2/levels/${i.guildId}/users/${user.id}/card.png`);
    return { files: [{ attachment: Buffer.from(await card.arrayBuffer()), name: 'rank.png' }] };
  },
  async leaderboard(i) {
    const period = i.options.getString('period');
    const { levels } = await read(`/v2/levels/${i.guildId}?page=1${period ? `&period=${period}` : ''}`);
    const rows = levels.slice(0, 10).map(l => `${l.rank}. <@${l.userId}> ${period ? `+${l.gained}` : `level ${l.level}, ${l.xp}`} XP`);
    return { content: rows.join('\n') || 'Nobody yet.', allowedMentions: { parse: [] } };
  },
};
client.on(Events.InteractionCreate, async i => {
  if (!i.isChatInputCommand() || !i.inGuild()) return;
  try {
    await i.deferReply();
    await i.editReply(await answers[i.commandName](i).catch(err => err.status === 404 ? { content: 'There is nothing to show yet.' } : Promise.reject(err)));
  } catch (err) { report(err); }
});

client.on(Events.GuildCreate, guild => followGuild(guild).catch(report));
client.once(Events.ClientReady, async () => {
  await client.application.commands.set(commands).catch(report);
  for (const guild of client.guilds.cache.values()) followGuild(guild).catch(report);
  for (;; await pause(1)) await handOver();
});
process.once('SIGTERM', () => handOver().finally(() => process.exit()));
await client.login(process.env.DISCORD_TOKEN);
