import { homeAt } from '@pawl/protocol/node/home';
import { PawlError } from '@pawl/schema/error';
import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Person } from '../../../src/agent/person.ts';
import { sessionBegin, sessionEnd, sessionPath } from '../../../src/command/agents/session.ts';
import { sessionHook } from '../../../src/command/home/session-hook.ts';
import { runCli } from '../../run-cli.ts';
import { keptContext } from '../kept-context.ts';

const now = new Date(2026, 0, 2, 3, 4);
const nobody: Person = { present: false, ask: () => Promise.resolve('') };

/** A repository whose sessions a test begins and ends as different people would. */
async function aPlace(options: { json?: boolean } = {}) {
  const place = await temporaryDirectory('pawl-session');
  const [root, home] = [join(place.path, 'proj'), join(place.path, 'home')];
  mkdirSync(join(root, '.git', 'info'), { recursive: true });
  const agents = sleepers(join(place.path, 'bin'));
  const kept = keptContext(home, options);
  const project = { project: root };
  return {
    root,
    home,
    agents,
    ...kept,
    begin(environment: NodeJS.ProcessEnv = {}) {
      sessionBegin(kept.context, project, { environment });
      return kept.texts.at(-1)?.split('\n') ?? [];
    },
    end: (more: object = {}, environment: NodeJS.ProcessEnv = {}, person = nobody) =>
      sessionEnd(kept.context, { ...project, ...more }, { environment, person, now }),
    put(path: string, text: string) {
      mkdirSync(join(root, '.pawl', 'session-context.d'), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

test('session path, for a shell with and without an id [W0-04]', async () => {
  await using place = await aPlace();
  sessionPath(place.context, { project: join(place.root, 'missing', '..') }, { environment: {} });
  sessionPath(place.context, { project: place.root }, { environment: { PAWL_AGENT_ID: 'helper a/b' } });
  expect(place.texts).toEqual(['.pawl/session-context.md', '.pawl/session-context.d/helper_a_b.md']);
  expect(readdirSync(place.root)).toEqual(['.git']);
  const { stdout } = await runCli(['session', 'path', '-C', place.root], { PAWL_AGENT_ID: '', AI_AGENT_ID: 'x' });
  expect(stdout).toBe('.pawl/session-context.d/x.md\n');
});

describe.runIf(process.platform === 'linux')('a day of three sessions [S0-22]', () => {
  test('fresh, then a recovered crash, then a helper beside a living agent', async () => {
    await using place = await aPlace();
    expect(place.begin().slice(0, 2)).toEqual(['fresh', 'anchor: .pawl/session-context.md']);
    expect(existsSync(join(place.root, '.pawl'))).toBe(false);
    expect(readFileSync(join(place.root, '.git/info/exclude'), 'utf8')).toBe('/.pawl/session-context*\n');

    place.put('.pawl/session-context.md', 'half of the login test\u001B[2J\n');
    const recovered = place.begin();
    expect(recovered[0]).toBe('recover');
    // What somebody else wrote steers no terminal.
    expect(recovered.at(-1)).toBe('half of the login test');

    const pid = await place.agents.start('claude', place.root);
    const helper = place.begin();
    const id = helper[1]?.replace('id: ', '') ?? '';
    expect(helper.slice(0, 4)).toEqual([
      'helper',
      `id: ${id}`,
      `anchor: .pawl/session-context.d/${id}.md`,
      `export PAWL_AGENT_ID='${id}' PAWL_HELPER=1 AI_AGENT_ID='${id}' AI_HELPER=1`,
    ]);
    expect(id).toMatch(/^helper-[a-z0-9]{4}$/);
    expect(helper.join('\n')).toMatch(new RegExp(`here: claude ${pid}\t[^]*You are a helper\\.[^]*changes git`));
    expect(readFileSync(join(place.root, `.pawl/session-context.d/${id}.md`), 'utf8')).toBe(`${id}\n`);

    await place.end({ description: 'login test' }, { PAWL_AGENT_ID: id, PAWL_HELPER: '1' });
    expect(place.texts.at(-1)).toMatch(
      new RegExp(`^helped\narchive: \\.pawl/sessions/2026-01-02-03-04-${id}-login-test\\.md\n`),
    );
  });

  test('an orphaned helper closes [invariant 16]', async () => {
    await using place = await aPlace();
    const pid = await place.agents.start('claude', place.root);
    const id = place.begin()[1]?.replace('id: ', '') ?? '';
    await place.agents.end(pid);
    await place.end({}, { PAWL_AGENT_ID: id });
    expect(place.texts.at(-1)).toMatch(/^closed\n[^]*yours now, git too/);
  });

  test('the primary is asked; without a person that is an error, and nothing changes [2.3.7]', async () => {
    await using place = await aPlace();
    await place.agents.start('claude', place.root);
    place.put('.pawl/session-context.md', 'notes');
    const refused = await place.end().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'needs_input', hint: expect.stringContaining('commit|wait|leave') });
    expect(refused).toBeInstanceOf(PawlError);
    expect(existsSync(join(place.root, '.pawl/session-context.md'))).toBe(true);
    const asked: string[] = [];
    const person = (answer: string) => ({
      present: true,
      ask: (question: string) => (asked.push(question), Promise.resolve(answer)),
    });
    await expect(place.end({}, {}, person('hm'))).rejects.toThrow(/nothing was committed/);
    await place.end({}, {}, person('wait'));
    expect(place.texts.at(-1)).toMatch(/^waiting/);
    await place.end({ onHelpers: 'leave' });
    expect(place.texts.at(-1)).toMatch(/^left\narchive: \.pawl\/sessions\/2026-01-02-03-04-session\.md/);
    expect(asked[0]).toMatch(/Others are working here \(claude \d+\).*\[commit\/wait\/leave\]/);
  });

  test('without /proc it is restricted, and says why [2.2.6]', async () => {
    await using place = await aPlace({ json: true });
    place.put('.pawl/session-context.md', 'notes');
    place.begin({ ROSTER_PROC: '/no/such/proc' });
    expect(place.data.at(-1)).toMatchObject({
      branch: 'restricted',
      notes: null,
      doubts: [expect.stringContaining('/no/such/proc')],
      shell: expect.stringMatching(/^export PAWL_AGENT_ID='helper-/),
      contract: expect.stringContaining('You are a helper.'),
    });
  });

  test('tells a helper that is alone to stop being one [S0-19]', async () => {
    await using place = await aPlace();
    const lines = place.begin({ PAWL_AGENT_ID: 'helper-ab12', PAWL_HELPER: '1' });
    expect(lines.slice(0, 3)).toEqual([
      'fresh',
      'anchor: .pawl/session-context.md',
      'unset PAWL_AGENT_ID PAWL_HELPER AI_AGENT_ID AI_HELPER',
    ]);
    expect(lines.join('\n')).toMatch(/no other agent is here: all duties are yours/);
  });
});

test('an agent in a worktree is isolated and leaves no trace [7.7]', async () => {
  await using place = await aPlace();
  const worktree = join(place.home, 'worktrees', 'proj', 'calm-fox');
  mkdirSync(worktree, { recursive: true });
  writeFileSync(join(worktree, '.git'), 'gitdir: elsewhere\n');
  const environment = { PAWL_SESSION: 'session-1', PAWL_AGENT_ID: 'agent-1' };
  sessionBegin(place.context, { project: worktree }, { environment });
  expect(place.texts.at(-1)?.split('\n')[0]).toBe('isolated');
  await sessionEnd(place.context, { project: worktree }, { environment, person: nobody, now });
  expect(place.texts.at(-1)).toBe('isolated');
  expect(readdirSync(worktree)).toEqual(['.git']);
});

test('no phrase makes a session a helper: only the scan, or a person’s variable [S0-17]', async () => {
  await using place = await aPlace();
  const streams = {
    write: (text: string) => void place.texts.push(text),
    warn: (text: string) => void place.texts.push(text),
  };
  for (const prompt of ['you are a helper', 'enter helper mode', '/helper-mode', 'Read helper-mode.md and follow it']) {
    const input = JSON.stringify({ cwd: place.root, hook_event_name: 'UserPromptSubmit', prompt });
    expect(await sessionHook(homeAt(place.home), 'user-prompt', input, streams, {})).toBe(0);
  }
  expect(place.texts).toEqual([]);
  expect(readdirSync(place.root)).toEqual(['.git']);
  expect(place.begin()[0]).toBe('fresh');
});
