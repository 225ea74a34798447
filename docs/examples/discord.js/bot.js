// A bot that keeps communities' levels in Levelboard. It needs DISCORD_TOKEN and LEVELBOARD_KEY, and LEVELBOARD_URL if
// the service is not at http://127.0.0.1:8080.
import { readFileSync, writeFileSync } from 'node:fs';
import { ApplicationCommandOptionType as Type, Client, Events, GatewayIntentBits as Intents } from 'discord.js';
import { call, follow, pause } from './levelboard.js';

const client = new Client({ intents: [Intents.Guilds, Intents.GuildMembers, Intents.GuildMessages] });
const guilds = {}; // by id: what the next second hands over
const handover = id => guilds[id] ??= { messages: [], present: new Map(), roles: Promise.resolve() };
const report = err => console.error(err.message);
const read = async path => JSON.parse((await call('GET', path)).content);

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

// handOver sends what a second has brought, and the guild's names if they have changed.
async function handOver(guild) {
  const { id } = guild, next = handover(id), { messages, present } = next, path = `/v2/guilds/${id}`;
  Object.assign(next, { messages: [], present: new Map() });
  while (messages.length) {
    const r = await call('POST', `${path}/messages`, { messages: messages.splice(0, 1000) }).catch(report);
    if (!r || r.headers.has('Idempotent-Replayed')) continue; // the first answer may be old: the events have the roles
    for (const result of JSON.parse(r.content).results) setRoles(id, result);
  }
  for (const is of [true, false]) {
    const ids = [...present.keys()].filter(user => present.get(user) === is);
    while (ids.length) await call('PUT', `${path}/presence`, { present: is, userIds: ids.splice(0, 1000) }).catch(report);
  }
  const directory = describe(guild);
  if (directory !== next.directory) await call('PUT', `${path}/directory`, JSON.parse(next.directory = directory));
}

function describe({ id, name, icon, memberCount, roles, channels }) {
  const role = r => ({ id: r.id, name: r.name, color: r.color || null, position: r.rawPosition });
  const channel = c => ({ id: c.id, name: c.name, parentId: c.parentId, position: c.rawPosition, type: c.type });
  const shown = channels.cache.filter(c => !c.isThread()).map(channel);
  return JSON.stringify({ name, icon, memberCount, roles: roles.cache.filter(r => r.id !== id).map(role), channels: shown });
}

// setRoles gives and takes a member's roles, after the changes of the guild's roles before it.
function setRoles(id, { userId, addRoles, removeRoles }) {
  const next = handover(id);
  next.roles = next.roles.then(async () => {
    const roles = client.guilds.cache.get(id)?.members.cache.get(userId)?.roles; // none if the member has left
    for (const role of addRoles) if (roles?.cache.has(role) === false) await roles.add(role).catch(report);
    for (const role of removeRoles) if (roles?.cache.has(role)) await roles.remove(role).catch(report);
  });
  return next.roles;
}

// catchUp compares the board with the guild: it sets roles by level, and notes who has left.
async function catchUp(guild) {
  const board = [], roles = new Map();
  for (let page = 1; board.length === 100 * (page - 1); page++) {
    board.push(...(await read(`/v2/levels/${guild.id}?page=${page}`)).levels);
  }
  const { cache } = guild.members, next = handover(guild.id); // Discord sends all of a guild every 30 seconds at most
  const members = cache.size === guild.memberCount ? cache : await guild.members.fetch();
  next.directory = null; // is sent again
  for (const { userId } of board) if (!members.has(userId)) next.present.set(userId, false);
  for (const { userId, level } of board) {
    const path = `/v2/guilds/${guild.id}/role-rewards/level?level=${level}&userId=${userId}`;
    if (!roles.has(level)) roles.set(level, await read(path));
    await setRoles(guild.id, { userId, ...roles.get(level) });
  }
}

// announce congratulates the winners of a week, a month or a season, once.
async function announce(guild, state, { id, kind, name, winners }) {
  if (kind === 'day' || !winners.length || state.announced.includes(id)) return;
  const lines = winners.slice(0, 3).map(w => `${w.rank}. <@${w.userId}> +${w.gained} XP`);
  await guild.systemChannel?.send([`**${name ?? `The ${kind} ${id}`} is over!**`, ...lines].join('\n')).catch(report);
  state.announced.push(id);
}

// followGuild applies a guild's events for ever. Its file has the last event and the periods that were announced.
async function followGuild(guild) {
  const file = `levelboard-${guild.id}.json`, state = { announced: [] };
  let behind = true;
  try { Object.assign(state, JSON.parse(readFileSync(file, 'utf8'))); } catch { /* the first start */ }
  await follow(guild.id, state, async (id, event, data) => {
    if (behind || event === 'reset') {
      await catchUp(guild);
      const newest = (await read(`/v2/levels/${guild.id}/periods?page=1&kind=week`)).periods.find(week => week.closed);
      if (newest && state.announced.length) await announce(guild, state, newest);
      behind = false;
    }
    if (event === 'period') await announce(guild, state, data);
    if (data.removeRoles) await setRoles(guild.id, { addRoles: [], ...data });
    state.id = id;
    writeFileSync(file, JSON.stringify(state));
  });
}

const choices = ['day', 'week', 'month', 'season'].map(value => ({ name: value, value }));
const member = { type: Type.User, name: 'member', description: 'You, if left out' };
const period = { type: Type.String, name: 'period', description: 'All time, if left out', choices };
const commands = [
  { name: 'rank', description: "A member's level and rank", options: [member] },
  { name: 'leaderboard', description: 'The top ten', options: [period] },
];
const answers = {
  async rank(i) {
    const { id } = i.options.getUser('member') ?? i.user;
    const card = await call('GET', `/v2/levels/${i.guildId}/users/${id}/card.png`);
    return { files: [{ attachment: card.content, name: 'rank.png' }] };
  },
  async leaderboard(i) {
    const kind = i.options.getString('period');
    const { levels } = await read(`/v2/levels/${i.guildId}?page=1${kind ? `&period=${kind}` : ''}`);
    const rows = levels.map(l => `${l.rank}. <@${l.userId}> ${kind ? `+${l.gained}` : `level ${l.level}, ${l.xp}`} XP`);
    return { content: rows.slice(0, 10).join('\n') || 'Nobody yet.', allowedMentions: { parse: [] } };
  },
};
client.on(Events.InteractionCreate, i => {
  if (!i.isChatInputCommand() || !i.inGuild()) return;
  const answer = () => answers[i.commandName](i).catch(err => report(err) ?? { content: 'There is nothing to show.' });
  i.deferReply().then(answer).then(reply => i.editReply(reply)).catch(report);
});

const begin = guild => { handover(guild.id).followed ??= followGuild(guild); }; // once, also when it is joined again
const turns = () => client.guilds.cache.map(guild => guild.available && handOver(guild).catch(report));
let turn = Promise.resolve(); // the last one waits for the one before it
const handOverAll = () => turn = turn.then(() => Promise.all(turns()));
client.on(Events.GuildCreate, begin);
client.once(Events.ClientReady, async () => {
  await client.application.commands.set(commands).catch(report);
  client.guilds.cache.forEach(begin);
  for (;; await pause(1)) await handOverAll();
});
for (const end of ['SIGINT', 'SIGTERM']) process.once(end, () => handOverAll().finally(() => process.exit()));
await client.login(process.env.DISCORD_TOKEN);
