import { programs } from '@pawl/protocol/node/programs';
import { routes } from '@pawl/protocol/routes';
import { errorCodes } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { git } from '@pawl/testing/sample-repository';
import { sampleOf } from '@pawl/testing/endurance';
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { inStore, makeBranches, startQuietDaemon } from '../support/change.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { mcpOverHttp, mcpOverStdio, tokenOf } from '../support/mcp.ts';
import { agentRecord } from '../support/records.ts';

type Route = keyof typeof routes;

/** The policy of each built-in definition, as its refusals name it. */
const policies = {
  worker: 'has only Patch',
  'helper-mode': 'has only Patch',
  review: 'is empty',
  supervisor: 'has only Finalize and Delegate',
  'merge-queue': 'has only Finalize and Delegate',
  workspace: 'has only Patch and Finalize and Delegate',
  architect: 'is empty',
  coder: 'has only Patch and Delegate',
  lead: 'has only Finalize and Delegate',
} as const;
type Shipped = keyof typeof policies;
const shipped = Object.keys(policies) as Shipped[];

/** Who is admitted where a definition counts. Written out, so that a mistake in a route's access is noticed. */
const admitted: Partial<Record<Route, { needs: string; by: Shipped[] }>> = {
  openChange: { needs: 'needs Patch', by: ['worker', 'helper-mode', 'workspace', 'coder'] },
  mergeChange: { needs: 'needs Patch', by: ['worker', 'helper-mode', 'workspace', 'coder'] },
  retryChange: { needs: 'needs Patch', by: ['worker', 'helper-mode', 'workspace', 'coder'] },
  blockChange: {
    needs: 'needs Patch or Finalize',
    by: ['worker', 'helper-mode', 'supervisor', 'merge-queue', 'workspace', 'coder', 'lead'],
  },
  unblockChange: {
    needs: 'needs Patch or Finalize',
    by: ['worker', 'helper-mode', 'supervisor', 'merge-queue', 'workspace', 'coder', 'lead'],
  },
  closeChange: {
    needs: 'needs Patch or Finalize',
    by: ['worker', 'helper-mode', 'supervisor', 'merge-queue', 'workspace', 'coder', 'lead'],
  },
  work: { needs: 'needs Delegate', by: ['supervisor', 'merge-queue', 'workspace', 'coder', 'lead'] },
  delegate: { needs: 'needs Delegate', by: ['supervisor', 'merge-queue', 'workspace', 'coder', 'lead'] },
  acceptProposal: { needs: 'needs Finalize', by: ['supervisor', 'merge-queue', 'workspace', 'lead'] },
  dismissProposal: { needs: 'needs Finalize', by: ['supervisor', 'merge-queue', 'workspace', 'lead'] },
  revertProposal: { needs: 'needs Finalize', by: ['supervisor', 'merge-queue', 'workspace', 'lead'] },
  // No built-in definition decides requests.
  listApprovals: { needs: 'needs Approve', by: [] },
  decideApproval: { needs: 'needs Approve', by: [] },
  showApproval: { needs: 'needs Approve', by: [] },
  checkQueue: { needs: 'needs hears: [emergency]', by: ['supervisor', 'merge-queue'] },
};

let daemon: TestDaemon;
let projectId: string;
const agents = {} as Record<Shipped, Agent>;
const changes = {} as Record<Shipped, string>;
beforeAll(async () => {
  daemon = await startQuietDaemon();
  [projectId = ''] = (await daemon.client.listProjects()).projects.map(({ id }) => id);
  const main = await git(daemon.repository, ['rev-parse', 'main']);
  const root = (await daemon.client.inspectAgent('root', { worktree: false })).agent;
  await makeBranches(daemon.repository, [...shipped.map((name) => `work/a-${name}`), 'work/a-stranger']);
  for (const definition of shipped) {
    const branch = `work/a-${definition}`;
    agents[definition] = agentRecord({ projectId, parentId: root.id, definition, branch, baseCommit: main });
    await inStore(daemon.home.root, (store) => store.write((tx) => insertAgent(tx, agents[definition])));
    // A person proposes it, so that each has its own change to try its verbs on.
    changes[definition] = (await daemon.client.openChange({ path: daemon.repository, branch, draft: true })).change.id;
  }
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** Sends a request as an agent, with a body that is right for the verbs of this test. */
async function ask(name: Route, definition: Shipped): Promise<{ status: number; code: string; message: string }> {
  const route = routes[name];
  // Only the agent itself may be read, ended or completed, so those refuse it for another reason.
  const other = agents[definition === 'worker' ? 'review' : 'worker'].id;
  const ends = name === 'killAgent' || name === 'completeAgent';
  const path = route.path
    .replace('{reference}', ends ? other : agents[definition].id)
    .replace('{change}', changes[definition])
    .replace(/\{\w+\}/, 'no-such');
  const answer = await fetch(`http://127.0.0.1:${daemon.port}${path}`, {
    method: route.method.toUpperCase(),
    headers: {
      authorization: `Bearer ${tokenOf(daemon.home, agents[definition].id)}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    ...(route.method === 'get' ? {} : { body: JSON.stringify(bodies[name] ?? {}) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  const { error } = (answer.ok ? {} : JSON.parse(text)) as { error?: { code: string; message: string } };
  return { status: answer.status, code: error?.code ?? '', message: error?.message ?? text };
}

const bodies: Partial<Record<Route, object>> = {
  blockChange: { reason: 'not yet' },
  closeChange: { reason: 'no', learnings: 'it did not work' },
  mergeChange: {},
  openChange: { draft: true },
};

test('a path without a route refuses agents', async () => {
  const get = (path: string, agentId: string | null) =>
    fetch(`http://127.0.0.1:${daemon.port}${path}`, {
      headers: { authorization: `Bearer ${tokenOf(daemon.home, agentId)}` },
    });
  expect((await get('/api/no/such/route', agents.workspace.id)).status).toBe(403);
  expect((await get('/api/no/such/route', null)).status).toBe(404);
  expect((await get('/api/openapi.json', agents.workspace.id)).status).toBe(200);
});

describe.each(shipped)('%s over HTTP', (definition) => {
  const names = Object.keys(routes) as Route[];

  test('is refused people’s routes', async () => {
    // A browser has no token yet when it exchanges its code, so this route looks at the Origin instead.
    const notThePage = 'Only the page of this home may send this.';
    for (const name of names.filter((each) => routes[each].access.agents === 'none')) {
      const message = name === 'openWebSession' ? notThePage : 'An agent may not do this; only a person may.';
      expect([name, await ask(name, definition)]).toEqual([name, { status: 403, code: 'forbidden', message }]);
    }
  });

  test('may read, write mail, ask, comment, and end its own work', async () => {
    for (const name of names.filter((each) => routes[each].access.agents !== 'none' && admitted[each] === undefined)) {
      const { message } = await ask(name, definition);
      expect(message, name).not.toMatch(/The definition .* may not|only a person/);
    }
  });

  test.each(Object.keys(admitted) as Route[])('%s: by its policy [S2-17, S4-04]', async (name) => {
    const { needs = '', by = [] } = admitted[name] ?? {};
    const { status, code, message } = await ask(name, definition);
    if (by.includes(definition)) return expect(message).not.toContain('The definition');
    expect([status, code]).toEqual([403, 'forbidden']);
    expect(message).toMatch(new RegExp(`^The definition ${definition} may not .*: that ${escaped(needs)}`));
    if (!needs.includes('hears')) expect(message).toContain(`its policy ${policies[definition]}.`);
  });
});

const escaped = (text: string) => text.replaceAll(/[[\]]/g, '\\$&');

/** Policies are checked by the routes, over HTTP above; the other interfaces pass the refusal on, which takes a process each. */
const elsewhere = sampleOf(shipped, 3);

describe.each(elsewhere)('%s on the command line', (definition) => {
  test('is refused only what its policy lacks, with the exit code of forbidden [S2-17]', async () => {
    const own = changes[definition];
    const commands: [Route, string[]][] = [
      ['openChange', ['change', 'open', '--draft']],
      ['mergeChange', ['change', 'merge', own]],
      ['retryChange', ['change', 'retry', own]],
      ['closeChange', ['change', 'close', own, '--reason', 'no', '--learnings', 'none']],
      // The policy is checked before the target is looked up.
      ['work', ['work', 'x', '--as', 'no-such-definition', '-C', daemon.repository]],
      ['delegate', ['delegate', 'no-such-definition', 'x']],
    ];
    for (const [name, words] of commands) {
      const { code, stderr } = await pawl(definition, words);
      const may = admitted[name]?.by.includes(definition) ?? false;
      if (may) expect(stderr, words.join(' ')).not.toContain('The definition');
      else expect([words, code]).toEqual([words, errorCodes.forbidden.exit]);
      if (!may) expect(stderr).toMatch(new RegExp(`The definition ${definition} may not .*its policy`));
    }
  });
});

function pawl(definition: Shipped, words: string[]): Promise<{ code: number | null; stderr: string }> {
  const { id } = agents[definition];
  const env = {
    ...process.env,
    NO_COLOR: '1',
    PAWL_HOME: daemon.home.root,
    PAWL_AGENT_ID: id,
    PAWL_AGENT_TOKEN: tokenOf(daemon.home, id),
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [programs.pawl, ...words], { env }, (_error, _stdout, stderr) =>
      resolve({ code: child.exitCode, stderr }),
    );
    child.stdin?.end();
  });
}

describe.each(shipped)('%s over MCP', (definition) => {
  const gated: [Route, string, Record<string, unknown>][] = [
    ['openChange', 'change_open', { draft: true }],
    ['work', 'work', { task: 'x' }],
    ['delegate', 'delegate', { target: 'finder', task: 'x' }],
  ];

  const interfaces = elsewhere.includes(definition) ? (['http', 'stdio'] as const) : (['http'] as const);
  test.each(interfaces)('%s lists what it may call, and refuses the rest', async (how) => {
    const { id } = agents[definition];
    await using mcp = how === 'http' ? await mcpOverHttp(daemon, id) : await mcpOverStdio(daemon.home, id);
    const names = (await mcp.client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['whoami', 'send', 'ask', 'change_comment', 'complete', 'fork']));
    for (const [route, tool, input] of gated) {
      const may = admitted[route]?.by.includes(definition) ?? false;
      expect([tool, names.includes(tool)]).toEqual([tool, may]);
      if (may) continue;
      expect(await mcp.failure(tool, input)).toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining(`The definition ${definition} may not`) as string,
      });
    }
  });
});

describe('closing another agent’s change', () => {
  test('needs Finalize and hears: [changes], so the merge queue may and the supervisor may not [S4-04, S4-07]', async () => {
    const path = daemon.repository;
    const { change } = await daemon.client.openChange({ path, branch: 'work/a-stranger', draft: true });
    const close = (definition: Shipped) =>
      agentClient(daemon.home, agents[definition].id).closeChange(change.id, { reason: 'no', learnings: 'none' });
    for (const definition of ['worker', 'helper-mode', 'review', 'supervisor', 'workspace'] as const)
      await expect(close(definition)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining(`The definition ${definition} may not close a change`) as string,
      });
    expect((await close('merge-queue')).change.state).toBe('closed');
  });
});

describe('planned tasks', () => {
  test('of another agent are completed with Finalize only [S2-17]', async () => {
    const { task } = await daemon.client.addTask({ name: 'one for all', path: daemon.repository });
    const done = (definition: Shipped) =>
      agentClient(daemon.home, agents[definition].id).changeTask(task.id, 'done', { summary: 'done' });
    for (const definition of ['worker', 'review'] as const)
      await expect(done(definition)).rejects.toThrow(`The definition ${definition} may not complete a planned task`);
    expect((await done('supervisor')).task.state).toBe('completed');
  });
});
