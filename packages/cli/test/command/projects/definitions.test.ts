import { agentActions } from '@pawl/schema/definition';
import { describe, expect, test } from 'vitest';
import { definitions } from '../../../src/command/projects/definitions.ts';
import { gate } from '../../../src/command/changes/gate.ts';
import { gatedActions } from '../../../src/table/signals.ts';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

const worker = {
  id: 'worker',
  kind: 'main',
  class: 'ephemeral',
  role: null,
  provider: 'scripted',
  tools: ['*'],
  deniedTools: ['Bash'],
  policy: { allow: ['Patch', 'Delegate'], delegateTargets: ['scout'] },
  sources: [
    { layer: 'built-in', path: '/opt/worker.md' },
    { layer: 'repository', path: '/shop/.pawl/agents/worker.md' },
  ],
};
const scout = { ...worker, id: 'scout', kind: 'subagent', role: 'scout', provider: null, tools: ['Read', 'Grep'] };
const list = {
  definitions: [worker, { ...scout, deniedTools: [], policy: { allow: [], delegateTargets: [] }, sources: [] }],
  problems: [{ path: '/shop/.pawl/agents/x.md', line: 3, reason: 'kind is missing\u001B[2J' }],
  notices: [{ path: '/shop/.pawl/agents/worker.md', line: 5, reason: 'asks for Bash' }],
};

describe('definitions', () => {
  test('a table, the broken files with line and reason, and untrusted files', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, list), { json: false });
    const context = { ...daemon.context, columns: 140 };
    expect(await definitions(context, { project: '/shop' })).toBe(0);
    expect(daemon.requests).toEqual(['GET /api/definitions?path=%2Fshop']);
    expect(daemon.texts[0]?.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
      'DEFINITION  KIND  CLASS  ROLE  PROVIDER  TOOLS  POLICY  FROM',
      'worker  main  ephemeral  -  scripted  all but Bash  Patch,Delegate(scout)  built-in + /shop/.pawl/agents/worker.md',
      'scout  subagent  ephemeral  scout  -  Read,Grep  -  ',
      '/shop/.pawl/agents/x.md:3  kind is missing',
      '/shop/.pawl/agents/worker.md:5  asks for Bash',
      'read these files, and if you agree with what they ask for: pawl trust',
    ]);
  });

  test('outside any project it lists the definitions without one; a named project must exist', async () => {
    await using daemon = await fakeDaemon(({ url, response }) => {
      if (url.searchParams.has('path')) sendFailure(response, 'project_not_found');
      else sendJson(response, list);
    });
    expect(await definitions(daemon.context, {})).toBe(0);
    expect(daemon.requests.at(-1)).toBe('GET /api/definitions');
    expect(daemon.printed).toEqual([{ kind: 'definitions', data: list }]);
    await expect(definitions(daemon.context, { project: '/x' })).rejects.toMatchObject({ code: 'project_not_found' });
  });
});

describe('gate', () => {
  test.each([
    [{ tool: 'Bash', input: 'ls' }, { allowed: true, reason: '' }, 0, 'allowed'],
    [{ action: 'Delegate' as const }, { allowed: false, reason: 'a subagent' }, 8, 'not allowed: a subagent'],
  ])('%j', async (options, answer, code, text) => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    expect(await gate(daemon.context, 'brave-otter', options)).toBe(code);
    expect(daemon.requests).toEqual(['POST /api/agents/brave-otter/gate']);
    expect(daemon.bodies).toEqual([options]);
    expect(daemon.texts).toEqual([text]);
  });

  test.each([[{}], [{ tool: 'Bash', action: 'Patch' as const }], [{ action: 'Patch' as const, input: 'x' }]])(
    '%j is refused before any request',
    async (options) => {
      await using daemon = await fakeDaemon(({ response }) => sendJson(response, {}));
      await expect(gate(daemon.context, 'a', options)).rejects.toMatchObject({ code: 'usage' });
      expect(daemon.requests).toEqual([]);
    },
  );

  test('every action of a policy can be queried', () => {
    expect(gatedActions).toEqual([...agentActions]);
  });
});
