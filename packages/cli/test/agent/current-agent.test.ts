import { describe, expect, test, vi } from 'vitest';
import type { CommandContext } from '../../src/context.ts';
import { diffErrand } from '../../src/command/agents/errand.ts';
import { gate } from '../../src/command/changes/gate.ts';
import { history } from '../../src/command/agents/history.ts';
import { inspect } from '../../src/command/agents/inspect.ts';
import { logs } from '../../src/command/agents/logs.ts';
import { note } from '../../src/command/agents/note.ts';
import { inputs, prompt } from '../../src/command/projects/prompt.ts';
import { resume } from '../../src/command/agents/resume.ts';
import { agentAndText } from '../../src/agent/current-agent.ts';
import { agentView, idOf, root } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../command/fake-daemon.ts';

const fox = agentView({ id: idOf(5), alias: 'calm-fox' });
const neighbours = { parent: null, previous: null, next: null, child: null, draft: { input: '', scroll: 0 } };

/** A daemon whose person acts as this agent. */
function daemonAt(current: typeof fox, agents = [fox]) {
  return fakeDaemon(({ url, response }) => {
    if (url.pathname === '/api/desk') return sendJson(response, { current, ...neighbours });
    if (url.pathname === '/api/agents') return sendJson(response, { agents, more: false, current: current.id });
    if (url.pathname.endsWith('/gate')) return sendJson(response, { allowed: true, reason: '' });
    if (url.pathname.endsWith('/output')) return sendJson(response, { chunks: [], more: false, ended: true });
    if (url.pathname.endsWith('/prompt'))
      return sendJson(response, {
        session: { no: 1, purpose: 'work' },
        system: '',
        turn: 'x',
        bytes: 1,
        truncated: false,
      });
    const head = { agentId: fox.id, alias: fox.alias, assignment: null, inherited: 0, own: 0 };
    return sendJson(response, { ...head, agent: fox, messageId: 1, messages: [], more: false, files: [] });
  });
}

/** Every command about one agent, and the request that it makes. */
const commands: [string, (context: CommandContext) => Promise<number>, string][] = [
  ['resume', (context) => resume(context, []), 'POST resume'],
  ['history', (context) => history(context, undefined, {}), 'GET history'],
  ['logs', (context) => logs(context, undefined, {}), 'GET output'],
  ['inspect', (context) => inspect(context, undefined), 'GET '],
  ['mark', (context) => note(context, 'mark', []), 'POST mark'],
  ['clear', (context) => note(context, 'clear', []), 'POST clear'],
  ['rewind', (context) => note(context, 'rewind', []), 'POST rewind'],
  ['prompt', (context) => prompt(context, undefined, {}), 'GET prompt'],
  ['inputs', (context) => inputs(context, undefined), 'GET inputs'],
  ['gate', (context) => gate(context, undefined, { tool: 'Bash' }), 'POST gate'],
];

describe('a command about one agent that names none', () => {
  test.each(commands)('%s means the agent that the person acts as', async (_name, run, request) => {
    await using daemon = await daemonAt(fox);
    expect(await run(daemon.context)).toBe(0);
    const [method = '', path = ''] = request.split(' ');
    const asked = daemon.requests.map((each) => each.split('?')[0]).filter((each) => each !== 'GET /api/desk');
    expect(asked).toEqual([`${method} /api/agents/${fox.id}${path === '' ? '' : `/${path}`}`]);
  });

  test('errand diff means the errand that the person acts as', async () => {
    await using daemon = await daemonAt(fox);
    expect(await diffErrand(daemon.context, undefined, {})).toBe(0);
    expect(daemon.requests.at(-1)).toBe(`GET /api/errands/${fox.id}/diff`);
  });

  test('means the agent that the person acts as', async () => {
    await using daemon = await daemonAt(fox);
    await resume(daemon.context, ['now the tests']);
    await history(daemon.context, undefined, { all: true });
    await note(daemon.context, 'mark', ['before the storm']);
    expect(daemon.requests.filter((request) => !request.includes('/desk'))).toEqual([
      `POST /api/agents/${fox.id}/resume`,
      `GET /api/agents/${fox.id}/history?limit=500&all=true`,
      `POST /api/agents/${fox.id}/mark`,
    ]);
    expect(daemon.bodies.filter((body) => body !== null)).toMatchObject([
      { prompt: 'now the tests' },
      { label: 'before the storm' },
    ]);
  });

  test('means the agent that it runs in', async () => {
    vi.stubEnv('PAWL_AGENT_ID', idOf(9));
    vi.stubEnv('PAWL_AGENT_TOKEN', 'x');
    await using daemon = await daemonAt(fox);
    await history(daemon.context, undefined, {});
    vi.unstubAllEnvs();
    expect(daemon.requests).toEqual([`GET /api/agents/${idOf(9)}/history?limit=500`]);
  });

  test('is refused for agent 0, and lists living agents', async () => {
    await using daemon = await daemonAt(root);
    await expect(inspect(daemon.context, undefined)).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('Living agents: calm-fox') as string,
    });
    await using empty = await daemonAt(root, []);
    await expect(inspect(empty.context, undefined)).rejects.toMatchObject({
      hint: expect.stringContaining('pawl work') as string,
    });
  });
});

test('a single word is an agent, and more words are a message to the current one', () => {
  expect(agentAndText([])).toEqual({ reference: undefined, text: undefined });
  expect(agentAndText(['brave-otter'])).toEqual({ reference: 'brave-otter', text: undefined });
  expect(agentAndText(['now the tests'])).toEqual({ reference: undefined, text: 'now the tests' });
  expect(agentAndText(['brave-otter', 'go'])).toEqual({ reference: 'brave-otter', text: 'go' });
});
