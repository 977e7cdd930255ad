import { createAuthority, personToken } from '@pawl/daemon/platform/http/authority';
import { routes } from '@pawl/protocol/routes';
import { updateAgent } from '@pawl/store/agents/agents';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
let tokens: Record<'person' | 'own' | 'other' | 'dead', string>;
let own: string;
let deadAgent: string;

beforeAll(async () => {
  daemon = await startTestDaemon();
  const agents = [await daemon.work(['complete']), await daemon.work(['complete']), await daemon.work(['complete'])];
  for (const agent of agents) await daemon.ended(agent.id);
  const [mine, other, dead] = agents.map((agent) => agent.id) as [string, string, string];
  own = mine;
  deadAgent = dead;
  const person = readFileSync(daemon.home.token, 'utf8').trim();
  const authority = createAuthority(person);
  tokens = {
    person,
    own: authority.agentToken(mine),
    other: authority.agentToken(other),
    dead: authority.agentToken(dead),
  };
  await endAgent(dead);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** The status of each route for each caller. `own` asks about itself. */
const statuses: Record<keyof typeof routes, { person: number; own: number; other: number }> = {
  health: { person: 200, own: 200, other: 200 },
  rosterSelf: { person: 400, own: 403, other: 403 },
  daemon: { person: 200, own: 200, other: 200 },
  stopDaemon: { person: 200, own: 403, other: 403 },
  doctor: { person: 200, own: 403, other: 403 },
  repair: { person: 200, own: 403, other: 403 },
  listProjects: { person: 200, own: 200, other: 200 },
  addProject: { person: 200, own: 403, other: 403 },
  projectSettings: { person: 400, own: 200, other: 200 },
  changeProjectSettings: { person: 200, own: 403, other: 403 },
  listProjectDetails: { person: 200, own: 403, other: 403 },
  untrackProject: { person: 200, own: 403, other: 403 },
  crew: { person: 400, own: 200, other: 200 },
  // Refused, since the project is untracked by now.
  startCrew: { person: 409, own: 403, other: 403 },
  stopCrew: { person: 200, own: 403, other: 403 },
  // Workers have no Delegate; delegation is tested in agents/delegate.test.ts.
  delegate: { person: 400, own: 403, other: 403 },
  runResult: { person: 404, own: 404, other: 404 },
  agentRuns: { person: 200, own: 403, other: 403 },
  agentChildren: { person: 400, own: 403, other: 403 },
  agentContext: { person: 400, own: 403, other: 403 },
  agentCancel: { person: 400, own: 403, other: 403 },
  chat: { person: 400, own: 403, other: 403 },
  runtimeSettings: { person: 400, own: 403, other: 403 },
  changeRuntimeSettings: { person: 400, own: 403, other: 403 },
  workspaceTree: { person: 400, own: 403, other: 403 },
  workspaceState: { person: 400, own: 403, other: 403 },
  listAgents: { person: 200, own: 200, other: 200 },
  work: { person: 400, own: 403, other: 403 },
  inspectAgent: { person: 200, own: 200, other: 403 },
  fork: { person: 200, own: 400, other: 403 },
  stopAgent: { person: 200, own: 403, other: 403 },
  stopAll: { person: 200, own: 403, other: 403 },
  resumeAgent: { person: 409, own: 403, other: 403 },
  tellAgent: { person: 400, own: 403, other: 403 },
  replyAgent: { person: 409, own: 403, other: 403 },
  pauseAgent: { person: 409, own: 403, other: 403 },
  continueAgent: { person: 409, own: 403, other: 403 },
  interruptAgent: { person: 409, own: 403, other: 403 },
  killAgent: { person: 200, own: 403, other: 403 },
  reapAgent: { person: 409, own: 403, other: 403 },
  cancelRun: { person: 200, own: 403, other: 403 },
  history: { person: 200, own: 200, other: 403 },
  clearHistory: { person: 200, own: 200, other: 403 },
  markHistory: { person: 200, own: 200, other: 403 },
  rewindHistory: { person: 200, own: 200, other: 403 },
  desk: { person: 200, own: 403, other: 403 },
  switchDesk: { person: 200, own: 403, other: 403 },
  definitions: { person: 200, own: 200, other: 200 },
  trustList: { person: 400, own: 403, other: 403 },
  trust: { person: 200, own: 403, other: 403 },
  gate: { person: 400, own: 400, other: 403 },
  lockPaths: { person: 400, own: 400, other: 400 },
  listLocks: { person: 200, own: 200, other: 403 },
  unlockPaths: { person: 200, own: 200, other: 403 },
  worktrees: { person: 200, own: 403, other: 403 },
  restoreWorktree: { person: 404, own: 403, other: 403 },
  pruneWorktrees: { person: 400, own: 403, other: 403 },
  top: { person: 200, own: 403, other: 403 },
  listAccounts: { person: 200, own: 403, other: 403 },
  addAccount: { person: 400, own: 403, other: 403 },
  removeAccount: { person: 404, own: 403, other: 403 },
  useAccount: { person: 404, own: 403, other: 403 },
  testAccount: { person: 404, own: 403, other: 403 },
  testModel: { person: 400, own: 403, other: 403 },
  output: { person: 200, own: 200, other: 403 },
  events: { person: 200, own: 200, other: 403 },
  addTask: { person: 400, own: 400, other: 400 },
  listTasks: { person: 200, own: 200, other: 200 },
  showTask: { person: 404, own: 404, other: 404 },
  completeTask: { person: 404, own: 404, other: 404 },
  blockTask: { person: 400, own: 403, other: 403 },
  unblockTask: { person: 404, own: 403, other: 403 },
  newPlan: { person: 400, own: 403, other: 403 },
  listPlans: { person: 200, own: 200, other: 200 },
  showPlan: { person: 404, own: 404, other: 404 },
  editPlan: { person: 404, own: 403, other: 403 },
  approvePlan: { person: 404, own: 403, other: 403 },
  launchPlan: { person: 404, own: 403, other: 403 },
  pausePlan: { person: 404, own: 403, other: 403 },
  resumePlan: { person: 404, own: 403, other: 403 },
  archivePlan: { person: 404, own: 403, other: 403 },
  landPlan: { person: 404, own: 403, other: 403 },
  revertPlan: { person: 404, own: 403, other: 403 },
  showReview: { person: 404, own: 404, other: 404 },
  approvePhase: { person: 404, own: 403, other: 403 },
  commentPhase: { person: 400, own: 403, other: 403 },
  requestChanges: { person: 404, own: 403, other: 403 },
  answerThread: { person: 400, own: 400, other: 400 },
  resolveThread: { person: 404, own: 403, other: 403 },
  editTask: { person: 404, own: 403, other: 403 },
  listProposals: { person: 200, own: 200, other: 200 },
  showProposal: { person: 404, own: 404, other: 404 },
  acceptProposal: { person: 404, own: 403, other: 403 },
  dismissProposal: { person: 404, own: 403, other: 403 },
  revertProposal: { person: 404, own: 403, other: 403 },
  listErrands: { person: 200, own: 403, other: 403 },
  sendErrand: { person: 400, own: 403, other: 403 },
  diffErrand: { person: 200, own: 200, other: 403 },
  mergeErrand: { person: 409, own: 403, other: 403 },
  abandonErrand: { person: 409, own: 403, other: 403 },
  whoami: { person: 200, own: 200, other: 200 },
  // Not a valid message of the protocol; valid ones are tested in mcp/tools.test.ts.
  mcp: { person: 400, own: 400, other: 400 },
  sendMail: { person: 400, own: 400, other: 400 },
  listMail: { person: 200, own: 200, other: 200 },
  fetchMail: { person: 400, own: 400, other: 400 },
  waitMail: { person: 400, own: 400, other: 400 },
  showMail: { person: 404, own: 404, other: 404 },
  readMail: { person: 404, own: 404, other: 404 },
  ackMail: { person: 404, own: 404, other: 404 },
  listRules: { person: 200, own: 200, other: 200 },
  addRule: { person: 400, own: 403, other: 403 },
  revokeRule: { person: 404, own: 403, other: 403 },
  agentPrompt: { person: 200, own: 200, other: 403 },
  askQuestion: { person: 400, own: 400, other: 400 },
  showQuestion: { person: 404, own: 404, other: 404 },
  answerQuestion: { person: 400, own: 400, other: 400 },
  noteShown: { person: 404, own: 404, other: 404 },
  listen: { person: 200, own: 200, other: 403 },
  showApproval: { person: 404, own: 403, other: 403 },
  listApprovals: { person: 200, own: 403, other: 403 },
  decideApproval: { person: 400, own: 403, other: 403 },
  inbox: { person: 200, own: 403, other: 403 },
  askPermission: { person: 400, own: 400, other: 400 },
  roster: { person: 400, own: 200, other: 200 },
  listProviders: { person: 200, own: 200, other: 200 },
  completeAgent: { person: 409, own: 403, other: 403 },
  agentInputs: { person: 200, own: 200, other: 403 },
  openChange: { person: 400, own: 409, other: 409 },
  listChanges: { person: 200, own: 200, other: 200 },
  showChange: { person: 404, own: 404, other: 404 },
  diffChange: { person: 404, own: 404, other: 404 },
  logChange: { person: 404, own: 404, other: 404 },
  approveChange: { person: 400, own: 403, other: 403 },
  fixChange: { person: 400, own: 403, other: 403 },
  blockChange: { person: 400, own: 400, other: 400 },
  unblockChange: { person: 404, own: 404, other: 404 },
  commentChange: { person: 400, own: 400, other: 400 },
  closeChange: { person: 400, own: 400, other: 400 },
  retryChange: { person: 404, own: 404, other: 404 },
  mergeChange: { person: 400, own: 400, other: 400 },
  listQueues: { person: 200, own: 200, other: 200 },
  queueLog: { person: 400, own: 404, other: 404 },
  checkQueue: { person: 200, own: 403, other: 403 },
  pauseQueue: { person: 200, own: 403, other: 403 },
  resumeQueue: { person: 200, own: 403, other: 403 },
  allowPush: { person: 409, own: 403, other: 403 },
  forbidPush: { person: 200, own: 403, other: 403 },
  webCode: { person: 200, own: 403, other: 403 },
  // Refused, since only the page itself may send it; web/way-in.test.ts exchanges codes.
  openWebSession: { person: 403, own: 403, other: 403 },
  webSessions: { person: 200, own: 403, other: 403 },
  revokeWebSessions: { person: 200, own: 403, other: 403 },
  taskHistory: { person: 200, own: 200, other: 200 },
};

test('every route whose access is for people refuses agents', () => {
  const closed = Object.entries(routes).filter(([, { access }]) => access.agents === 'none');
  for (const [name] of closed)
    expect([name, statuses[name as keyof typeof routes]]).toEqual([
      name,
      expect.objectContaining({ own: 403, other: 403 }),
    ]);
});

describe.each(Object.entries(routes))('%s', (name, route) => {
  const expected = statuses[name as keyof typeof routes];
  const open = name === 'health';
  const withoutToken = open ? 200 : name === 'openWebSession' ? 403 : 401;

  test.each([
    ['no token', {}, withoutToken],
    ['a wrong token', { authorization: `Bearer ${'x'.repeat(43)}` }, withoutToken],
    ['a token in the URL', {}, withoutToken],
    ['a foreign Origin', { origin: 'https://evil.example' }, 403],
    ['Origin null', { origin: 'null' }, 403],
    ['an Origin that only begins like ours', { origin: 'http://127.0.0.1.evil.example' }, 403],
    ['a foreign Host', { host: 'evil.example' }, 403],
    ['a Host of another port', { host: '127.0.0.1:1' }, 403],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }, 403],
  ] as const)('with %s', async (how, headers, status) => {
    const strange = !['no token', 'a wrong token', 'a token in the URL'].includes(how);
    const token = strange ? { authorization: `Bearer ${tokens.person}` } : {};
    const path = how === 'a token in the URL' ? `${pathOf(route.path)}?token=${tokens.person}` : pathOf(route.path);
    expect((await ask(route.method, path, { ...token, ...headers } as Record<string, string>)).status).toBe(status);
  });

  test('for a person, an agent about itself, another agent, and a dead one', async () => {
    const path = pathOf(route.path) + (name === 'events' ? `?agent=${own}` : '');
    for (const caller of ['person', 'own', 'other'] as const) {
      const { status } = await ask(route.method, path, { authorization: `Bearer ${tokens[caller]}` });
      expect([caller, status]).toEqual([caller, expected[caller]]);
    }
    expect((await ask(route.method, path, { authorization: `Bearer ${tokens.dead}` })).status).toBe(withoutToken);
  });

  test('gives no CORS headers', async () => {
    const { headers } = await ask('options', pathOf(route.path), {
      origin: `http://127.0.0.1:${daemon.port}`,
      authorization: `Bearer ${tokens.person}`,
      'access-control-request-method': 'POST',
    });
    expect(Object.keys(headers).filter((header) => header.startsWith('access-control'))).toEqual([]);
  });
});

test('the OpenAPI document lists exactly the existing routes [W3-02]', async () => {
  const { body } = await ask('get', '/api/openapi.json', { authorization: `Bearer ${tokens.person}` });
  const { openapi, paths } = JSON.parse(body) as { openapi: string; paths: Record<string, object> };
  expect(openapi).toBe('3.1.0');
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(listed.toSorted()).toEqual(
    Object.values(routes)
      .map((route) => `${route.method} ${route.path}`)
      .toSorted(),
  );
  expect((await ask('get', '/api/openapi.json', {})).status).toBe(401);
});

test('a change needs a JSON body of bounded size', async () => {
  const authorization = `Bearer ${tokens.person}`;
  const post = (headers: object, body: string) => ask('post', '/api/projects', { authorization, ...headers }, body);
  expect((await post({ 'content-type': 'text/plain' }, '{}')).status).toBe(415);
  expect((await post({ 'content-type': 'application/x-www-form-urlencoded' }, 'path=/')).status).toBe(415);
  expect((await post({}, JSON.stringify({ path: 'x'.repeat(5 * 1024 * 1024) }))).status).toBe(413);
  // A body of unknown length is read up to the same limit.
  const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  const path = JSON.stringify({ path: daemon.repository });
  expect((await post(chunked, path)).status).toBe(200);
  expect((await post(chunked, JSON.stringify({ path: 'x'.repeat(5 * 1024 * 1024) }))).status).toBe(413);
  expect((await post({}, '{"path":')).status).toBe(400);
  expect((await post({}, `{"path":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).status).toBe(400);
  expect((await post({}, '{"path":7}')).status).toBe(400);
  expect((await ask('get', '/api/../../etc/passwd', { authorization })).status).toBe(404);
});

test('HEAD is refused, so that it leaves no stream open', async () => {
  expect((await ask('head', '/api/events', { authorization: `Bearer ${tokens.person}` })).status).toBe(400);
});

test('only their owner can use the socket and the token, and a damaged token is replaced', () => {
  expect(statSync(daemon.home.socket).mode & 0o777).toBe(0o600);
  expect(statSync(daemon.home.token).mode & 0o777).toBe(0o600);
  expect(statSync(daemon.home.root).mode & 0o777).toBe(0o700);
  const place = mkdtempSync(join(tmpdir(), 'pawl-test-'));
  try {
    const path = join(place, 'token');
    writeFileSync(path, 'short', { mode: 0o644 });
    expect(() => personToken(path)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    chmodSync(path, 0o600);
    const token = personToken(path);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(personToken(path)).toBe(token);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(place, { recursive: true });
  }
});

/** Verbs that would end or start agents of this suite target the dead one. */
function pathOf(template: string): string {
  const about = /(?:kill|resume|complete)$/.test(template) ? deadAgent : own;
  return template
    .replace('{reference}', about)
    .replace('{entry}', 'no-such-entry')
    .replace('{account}', 'no-such-account')
    .replace('{mail}', 'no-such-mail')
    .replace('{task}', 'no-such-task')
    .replace('{plan}', 'no-such-plan')
    .replace('{proposal}', 'no-such-proposal')
    .replace('{question}', 'no-such-question')
    .replace('{change}', 'no-such-change');
}

function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const sends = method === 'post';
  const content = body ?? (sends ? JSON.stringify({ path: daemon.repository }) : undefined);
  const json = sends
    ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content ?? '')) }
    : {};
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: daemon.port,
        method: method.toUpperCase(),
        path,
        headers: Object.fromEntries(Object.entries({ ...json, ...headers }).filter(([, value]) => value !== undefined)),
      },
      (response) => {
        const type = response.headers['content-type'] ?? '';
        const done = (text: string) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        if (type.startsWith('text/event-stream')) {
          response.destroy();
          return done('');
        }
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('end', () => done(text));
      },
    );
    sent.on('error', reject);
    sent.end(content);
  });
}

async function endAgent(agentId: string): Promise<void> {
  await storeOf(daemon.home.root).write((tx) => updateAgent(tx, agentId, { endedAt: tx.now, endReason: 'test' }));
}
