import type { AgentView } from '@pawl/protocol/agents/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import type { EngineSetup } from '../support/engine.ts';
import { childrenEnded, doneWith, onEngine, openEngineSetup } from '../support/engine.ts';
import { outputText } from '../support/output.ts';

const told = { say: 'Result: {result}' };
const to = (target: string, task: string) => ({ name: 'Delegate', input: { target, task } });
const both = [to('finder', 'one [[scenario:find-one]]'), to('finder', 'two [[scenario:find-two]]')];

let setup: EngineSetup;
let daemon: TestDaemon;
beforeAll(async () => {
  setup = await openEngineSetup({
    scenarios: {
      two: { steps: [{ tools: both }, doneWith('both'), told] },
      'find-one': { steps: [{ shell: meet('one', 'two') }, doneWith('in one.ts'), told] },
      'find-two': { steps: [{ shell: meet('two', 'one') }, doneWith('in two.ts'), told] },
      lost: { steps: [{ tool: to('finder', 'fail [[scenario:fail]]') }, doneWith('no'), told] },
      fail: { steps: [{ signal: { status: 'error', error: 'there is no login' } }, told] },
      stranger: { steps: [{ tool: to('worker', 'x') }, told] },
      deeper: { steps: [{ tool: to('nested', 'try [[scenario:nest]]') }, doneWith('tried'), told] },
      nest: {
        steps: [{ shell: nestings }, doneWith('nested'), told],
      },
      owner: { steps: [{ tool: to('finder', 'stay [[scenario:stay]]') }, told] },
      stay: { steps: [{ shell: 'touch stays; exec sleep 600' }] },
    },
  });
  daemon = setup.daemon;
  const lead = { kind: 'main', tools: ['*'], policy: { allow: ['Delegate'], delegate_targets: ['finder', 'nested'] } };
  daemon.define('chief', lead);
  daemon.define('finder', { kind: 'subagent', tools: ['*'] });
  daemon.define('nested', { kind: 'subagent', tools: ['*'] });
});
afterAll(() => setup[Symbol.asyncDispose]());

/** A command that ends only if the other subagent runs at the same time. */
function meet(own: string, other: string): string {
  return `touch ../met-${own}; until [ -e ../met-${other} ]; do sleep 0.05; done; rm ../met-${other}`;
}

/** Every way in which a subagent might create an agent or speak to a stranger, on the command line. */
const nestings = ['pawl fork x', 'pawl work x', 'pawl delegate finder x', 'pawl send lead x', 'pawl send finder-1 x']
  .map((command) => `${command} < /dev/null || echo refused: ${command.split(' ')[1]}`)
  .join('; ');

async function leads(scenario: string): Promise<AgentView> {
  return daemon.work(undefined, { ...onEngine(), definition: 'chief', task: `Lead. [[scenario:${scenario}]]` });
}

test('a lead delegates to two subagents at once and gets both results [S2-10, S2-11]', async () => {
  const lead = await leads('two');
  await childrenEnded(daemon, lead.id, 2);
  expect((await daemon.ended(lead.id)).run).toMatchObject({ status: 'completed' });
  const said = await outputText(daemon.client, lead.id);
  expect(said).toContain('in one.ts');
  expect(said).toContain('in two.ts');
});

test('a subagent that fails tells its lead why; a target that the policy does not name is refused [S2-17]', async () => {
  const [lost, stranger] = [await leads('lost'), await leads('stranger')];
  await waitUntil(async () => (await outputText(daemon.client, lost.id)).includes('there is no login'), {
    what: 'why',
  });
  await waitUntil(
    async () => (await outputText(daemon.client, stranger.id)).includes('may delegate to finder, nested'),
    {
      what: 'the refusal',
    },
  );
  await daemon.client.stopAgent(stranger.id);
});

test('a subagent creates no agent and writes to none but its lead, by tool or command [S2-12, S2-13, S2-14]', async () => {
  const lead = await leads('deeper');
  await daemon.ended(lead.id);
  const { agents } = await daemon.client.listAgents({ all: true, limit: 1000 });
  const [child, ...others] = agents.filter(({ parentId }) => parentId === lead.id);
  expect(others).toEqual([]);
  expect(agents.filter(({ parentId }) => parentId === child?.id)).toEqual([]);
  const tools = setup.model.requests.find(({ scenario }) => scenario === 'nest')?.tools ?? [];
  expect(tools).toContain('mcp__pawl__send');
  for (const verb of ['Delegate', 'mcp__pawl__fork', 'mcp__pawl__work', 'mcp__pawl__change_open']) {
    expect(tools).not.toContain(verb);
  }
  const said = await outputText(daemon.client, child?.id ?? '');
  for (const verb of ['fork', 'work', 'delegate', 'send']) expect(said).toContain(`refused: ${verb}`);
  expect(said).toContain('A subagent cannot create agents');
});

async function waitsForChild(): Promise<{ lead: AgentView; child: AgentView }> {
  const lead = await leads('owner');
  const child = await waitUntil(
    async () => {
      const { agents } = await daemon.client.listAgents({ limit: 1000 });
      const found = agents.find(({ parentId }) => parentId === lead.id);
      return found?.worktree && existsSync(join(found.worktree, 'stays')) ? found : undefined;
    },
    { what: 'the subagent at work' },
  );
  return { lead, child };
}

test('cancelling a lead that waits cancels its subagent; so does killing it [S2-15]', async () => {
  const cancelled = await waitsForChild();
  await daemon.client.cancelRun(cancelled.lead.run?.id ?? '');
  for (const { id } of [cancelled.lead, cancelled.child]) {
    expect((await daemon.ended(id)).run).toMatchObject({ status: 'cancelled' });
  }
  const killed = await waitsForChild();
  await daemon.client.killAgent(killed.lead.id, {});
  for (const { id } of [killed.lead, killed.child]) {
    expect(
      await waitUntil(async () => (await daemon.client.inspectAgent(id)).agent.status === 'dead', { what: 'dead' }),
    ).toBe(true);
  }
});
