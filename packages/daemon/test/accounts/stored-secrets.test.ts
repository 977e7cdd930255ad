import { routes } from '@pawl/protocol/routes';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { agentClient } from '../support/agent-client.ts';
import { makeBranches } from '../support/change.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { mcpOverHttp, tokenOf } from '../support/mcp.ts';

type Route = keyof typeof routes;

const secrets = {
  key: 'sk-marked-0123456789-ABCDEFGH',
  shell: 'sk-shell-0123456789-ABCDEFGH',
  login: 'rt-login-0123456789-ABCDEFGH',
  server: 'mcp-0123456789-ABCDEFGH',
};

/** Invisible text between two characters of a secret. */
const marks = ['\u001B[0m', '\u200B', '\u001B]0;title\u0007', '\u00AD'];

/** A secret as it is, and with invisible text inside. */
function formsOf(secret: string): string[] {
  return [secret, ...marks.map((mark) => secret.slice(0, 9) + mark + secret.slice(9)), secret.split('').join(marks[0])];
}

/** A text without the marks above, however a file writes them; every character is a byte. */
function bare(bytes: string): string {
  const written = marks.flatMap((mark) => {
    const raw = Buffer.from(mark).toString('latin1');
    const json = mark.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return [raw, json, json.replaceAll('\\', '\\\\')];
  });
  return written.reduce((text, mark) => text.replaceAll(mark, ''), bytes);
}

/** The files of a home, except where its secrets belong, and every row of its database. */
function* kept(root: string): Generator<[string, string]> {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    if (!entry.isFile() || name.startsWith('accounts/') || name === 'token') continue;
    yield [name, readFileSync(path, 'latin1')];
    if (!/\.(?:db|sqlite)$/.test(name)) continue;
    const database = new DatabaseSync(path, { readOnly: true });
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    for (const { name: table } of tables)
      for (const row of database.prepare(`select * from "${String(table)}"`).all())
        yield [`${name}: ${String(table)}`, Buffer.from(Object.values(row).join('\n')).toString('latin1')];
    database.close();
  }
}

/** Where any of these appears in a home. */
function placesOf(root: string, texts: Record<string, string>): string[] {
  const found = new Set<string>();
  for (const [place, content] of kept(root)) {
    const shown = bare(content);
    for (const [name, text] of Object.entries(texts))
      if (content.includes(text) || shown.includes(text)) found.add(`${name} in ${place}`);
  }
  return [...found];
}

type Schema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minimum?: number;
  maxLength?: number;
};

/** A body in which every text is the given one, except for fields that accept only certain values. */
function bodyOf(schema: Schema, text: string, right: Record<string, unknown>, name = ''): unknown {
  if (name in right) return right[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return bodyOf(choice, text, right, name);
  switch (schema.type) {
    case 'string':
      return text.length <= (schema.maxLength ?? Infinity) ? text : secrets.key;
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return Math.max(1, schema.minimum ?? 0);
    case 'array':
      return [bodyOf(schema.items ?? {}, text, right)];
    case 'object': {
      const more = typeof schema.additionalProperties === 'object' && schema.properties === undefined;
      if (more) return { [secrets.key]: secrets.shell };
      const entries = Object.entries(schema.properties ?? {}).map(([each, inner]) => [
        each,
        bodyOf(inner, text, right, each),
      ]);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    }
    default:
      return text;
  }
}

/** Fields that must have a valid value; undefined omits one. */
const leftOut = Object.fromEntries(
  'planned mode access budget projects base model definition alias sessionId account environment email baseUrl from addresses switch project failure phase task agent'
    .split(' ')
    .map((name) => [name, undefined]),
);

/** Secrets in a request that hands them over for the first time. */
const fresh = { account: 'sk-fresh-0123456789-ABCDEFGH', work: 'sk-other-0123456789-ABCDEFGH' };

type Setup = {
  daemon: TestDaemon;
  tokens: { person: string; agent: string };
  ids: Record<'reference' | 'other' | 'worker' | 'change' | 'task' | 'question', string>;
};
type Kind = 'every field' | 'texts' | 'exact';

/** Valid bodies for routes that demand more than their schema. */
function exactBody({ daemon, ids }: Setup, route: Route, text: string): object | undefined {
  const path = daemon.repository;
  const bodies: Partial<Record<Route, object>> = {
    addAccount: { provider: 'scripted', name: 'fresh', kind: 'api-key', secret: fresh.account, email: fresh.account },
    addTask: { path, name: `words ${secrets.key}`, description: text, phase: secrets.key },
    askPermission: { tool: 'Bash', input: { command: text, [secrets.key]: [text] } },
    closeChange: { reason: text, learnings: text },
    completeAgent: { summary: text },
    delegate: { target: 'worker', task: text, provider: 'scripted' },
    openChange: { path, branch: 'work/other', title: secrets.key, summary: text, draft: true },
    switchDesk: { draft: { input: text, scroll: 0 } },
    sendMail: { to: ids.other, body: text },
    work: {
      path,
      task: `${text} ${fresh.work}`,
      provider: 'scripted',
      environment: { SCRIPTED_API_KEY: fresh.work, SCRIPTED_BASE_URL: `http://${secrets.key}@127.0.0.1` },
    },
  };
  return bodies[route];
}

async function bodyFor(setup: Setup, route: Route, text: string, kind: Kind): Promise<unknown> {
  if (kind === 'exact') return exactBody(setup, route, text);
  const { request } = routes[route] as { request?: { body?: { content: Record<string, { schema: z.ZodType }> } } };
  const schema = request?.body?.content['application/json']?.schema;
  if (schema === undefined) return {};
  const right: Record<string, unknown> = {
    path: setup.daemon.repository,
    to: setup.ids.other,
    provider: 'scripted',
    options: { scenario: await setup.daemon.scenario(['complete']) },
    searchPath: process.env['PATH'],
    branch: 'work/other',
    noProject: false,
    draft: true,
    ...(kind === 'texts' ? leftOut : {}),
  };
  return bodyOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema, text, right);
}

/** Sends one request; returns its status, 0 if there is no response. */
async function send(setup: Setup, route: Route, token: string, body: unknown): Promise<number> {
  const reference = route === 'completeAgent' ? setup.ids.worker : setup.ids.reference;
  const about = { ...setup.ids, reference, account: 'lab', entry: 'none', mail: 'none' };
  const url = Object.entries(about).reduce(
    (all, [name, value]) => all.replace(`{${name}}`, value),
    routes[route].path as string,
  );
  const answer = await fetch(`http://127.0.0.1:${setup.daemon.port}${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(body),
    // A permission request waits for its answer, but is recorded long before.
    signal: AbortSignal.timeout(5_000),
  }).catch(() => null);
  await answer?.text();
  return answer?.status ?? 0;
}

async function setUp(): Promise<Setup> {
  const mcpServers = { lab: { command: 'true', args: [], env: { LAB_TOKEN: secrets.server, LAB_MODE: 'permission' } } };
  const daemon = await startTestDaemon({ logged: true, choices: { mcpServers } });
  const { client } = daemon;
  const key = { provider: 'scripted', name: 'lab', kind: 'api-key', secret: secrets.key } as const;
  const directory = join(daemon.home.accounts, (await client.addAccount(key)).account.id, 'directory');
  writeFileSync(join(directory, 'auth.json'), JSON.stringify({ refresh_token: secrets.login }), { mode: 0o600 });
  const other = await daemon.work(['complete'], { environment: { SCRIPTED_API_KEY: secrets.shell } });
  const agent = await daemon.work(['complete'], { account: 'lab', definition: 'workspace' });
  const worker = await daemon.work(['complete']);
  for (const { id } of [other, agent, worker]) await daemon.ended(id);
  await makeBranches(daemon.repository, ['work/first', 'work/other']);
  const { change } = await client.openChange({ path: daemon.repository, branch: 'work/first', draft: true });
  const { task } = await client.addTask({ path: daemon.repository, name: 'first' });
  const { question } = await agentClient(daemon.home, agent.id).ask({ person: true, question: 'which?' }, randomUUID());
  return {
    daemon,
    tokens: { person: tokenOf(daemon.home, null), agent: tokenOf(daemon.home, agent.id) },
    ids: {
      reference: agent.id,
      other: other.id,
      worker: worker.id,
      change: change.id,
      task: task.id,
      question: question.conversationId,
    },
  };
}

/** These end what the others need, or wait. They take no text. */
const notSent: Route[] = ['stopDaemon', 'stopAll', 'killAgent', 'untrackProject', 'removeAccount', 'waitMail', 'mcp'];
/** These settle what others need, and come last. */
const last: Route[] = ['closeChange', 'completeTask', 'completeAgent'];
/** Verbs that store their text: they must succeed, or the test proves nothing. */
const keeping: Route[] = [
  ...(['work', 'fork', 'delegate', 'resumeAgent', 'tellAgent', 'markHistory', 'switchDesk', 'completeAgent'] as const),
  ...(['sendMail', 'askQuestion', 'answerQuestion', 'addTask', 'blockTask', 'completeTask'] as const),
  ...(['openChange', 'commentChange', 'blockChange', 'closeChange', 'addAccount'] as const),
];

test('no secret is stored anywhere but with the accounts, by any route, even with escapes inside [8.49]', async () => {
  const setup = await setUp();
  await using daemon = setup.daemon;
  const { tokens } = setup;
  const known = { ...secrets, ...tokens };
  const text = `words ${Object.values(known).flatMap(formsOf).join(' ')} permission`;
  const writing = (Object.keys(routes) as Route[]).filter((name) => routes[name].method === 'post');
  const order = [...writing.filter((name) => !last.includes(name)), ...last].filter((name) => !notSent.includes(name));
  const answered = new Set<Route>();
  for (const route of order)
    for (const kind of ['every field', 'texts', 'exact'] as const)
      for (const token of Object.values(tokens)) {
        const body = await bodyFor(setup, route, text, kind);
        if (body !== undefined && (await send(setup, route, token, body)) === 200) answered.add(route);
      }
  expect(keeping.filter((route) => !answered.has(route))).toEqual([]);

  // The same verbs as tools, as files, and in the URL.
  await using mcp = await mcpOverHttp(daemon, setup.ids.reference);
  await mcp.call('send', { to: setup.ids.other, body: text });
  const [project] = (await daemon.client.listProjects()).projects;
  const { alias } = (await daemon.client.inspectAgent(setup.ids.other)).agent;
  const box = join(daemon.home.messages, project?.name ?? '', alias);
  const dropped = { from: setup.ids.reference, body: `from a file ${text}` };
  mkdirSync(box, { recursive: true });
  writeFileSync(join(box, 'dropped.json'), JSON.stringify(dropped));
  utimesSync(join(box, 'dropped.json'), 1_000, 1_000);
  const mails = async () => (await daemon.client.listMail({ agent: setup.ids.other, limit: 200 })).mails;
  await waitUntil(async () => (await mails()).some(({ body }) => body.includes('from a file')), { what: 'the file' });
  const address = `/api/agents/${encodeURIComponent(secrets.key)}/mark`;
  await expect(daemon.request('POST', address, {})).rejects.toMatchObject({ code: 'invalid_input' });

  await daemon.stop();
  expect(placesOf(daemon.home.root, { ...known, ...fresh })).toEqual([]);
  const masked = placesOf(daemon.home.root, { masked: `words ${'*'.repeat(secrets.key.length)} ` });
  for (const place of ['messages', 'mail', 'tasks', 'runs', 'changes', 'change_comments', 'events'])
    expect(
      masked.some((found) => found.endsWith(`: ${place}`)),
      place,
    ).toBe(true);
  // An ordinary word in a server's environment is not a secret.
  expect(placesOf(daemon.home.root, { word: 'permission' }).length).toBeGreaterThan(0);
});
