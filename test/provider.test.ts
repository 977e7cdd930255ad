import type { AgentView } from '@pawl/protocol/agents/view';
import type { ChangeList } from '@pawl/protocol/changes/view';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outcome, Workplace } from './support/pawl.ts';
import { workplace } from './support/pawl.ts';

/** A PATH with git and a shell, and with no coding agent. */
const poorPath = ['/usr/bin', '/bin'].join(delimiter);

/** A program that speaks as much of Claude's stream-json as one turn needs, and leaves a line where it was started. */
const fakeAgent = (marks: string) => `#!/bin/sh
case "$1" in --version) echo 2.1.0; exit 0;; esac
echo "$0" >> '${marks}'
IFS= read -r line
echo '{"type":"system","subtype":"init","session_id":"fake-session","model":"fake","tools":[]}'
mkdir -p .pawl/output
echo '{"status":"done","result":"the fake is done"}' > .pawl/output/signal.json
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"fake-session"}'
`;

let place: Workplace;
let repository: string;
let marks: string;
beforeAll(async () => {
  place = await workplace();
  repository = join(place.path, 'shop');
  marks = join(place.path, 'marks');
  await sampleRepository(repository);
  // The daemon's own PATH never has a coding agent.
  expect((await pawl(['up'])).code).toBe(0);
  expect((await pawl(['init'])).code).toBe(0);
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
});

/** Runs pawl in the repository with a PATH of its own. */
function pawl(words: string[], ...directories: string[]): Promise<Outcome> {
  return place.pawl(words, { cwd: repository, env: { PATH: [...directories, poorPath].join(delimiter) } });
}

/** A directory with these programs in it. */
function programs(name: string, ...names: string[]): string {
  const directory = join(place.path, name);
  mkdirSync(directory, { recursive: true });
  for (const each of names) writeFileSync(join(directory, each), fakeAgent(marks), { mode: 0o755 });
  return directory;
}

const agentOf = ({ stdout }: Outcome) => (JSON.parse(stdout) as { data: AgentView }).data;
const starts = () => readFileSync(marks, 'utf8').trim().split('\n');

async function ended(alias: string): Promise<AgentView> {
  return waitUntil(
    async () => {
      const { data } = JSON.parse((await pawl(['inspect', alias, '--json'])).stdout) as { data: { agent: AgentView } };
      return data.agent.run?.endedAt === null ? null : data.agent;
    },
    { what: `${alias} to end` },
  );
}

test('without a coding agent, work fails with exit 2 and says how to install one', async () => {
  const refused = await pawl(['work', 'something']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('No coding agent is installed on your PATH.');
  for (const words of [
    'npm install -g @anthropic-ai/claude-code',
    'npm install -g @openai/codex',
    '--provider scripted',
  ])
    expect(refused.stderr).toContain(words);
  for (const words of [
    ['errand', 'start', 'x'],
    ['fork', 'root', 'do this'],
  ])
    expect((await pawl(words)).code).toBe(2);
  const { data } = JSON.parse((await pawl(['ps', '--all', '--json'])).stdout) as { data: { agents: AgentView[] } };
  expect(data.agents.map(({ alias }) => alias)).toEqual(['root']);
});

test('with several, work fails with exit 2 and names them; a choice for the project or the home resolves it', async () => {
  const both = programs('both', 'claude', 'codex');
  const refused = await pawl(['work', 'something'], both);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('claude, codex');
  expect(refused.stderr).toContain('pawl config set provider claude');
  expect((await pawl(['config', 'set', 'provider', 'codex'])).stdout).toContain('from now on');
  const { stdout } = await pawl(['providers', '--json'], both);
  const listed = (
    JSON.parse(stdout) as { data: { providers: { name: string; path: string | null; isDefault: boolean }[] } }
  ).data.providers;
  expect(listed.find(({ isDefault }) => isDefault)).toMatchObject({ name: 'codex', path: join(both, 'codex') });
  expect((await pawl(['init', '--provider', 'claude'])).code).toBe(0);
  const agent = agentOf(await pawl(['work', 'choose', '--json'], both));
  expect(agent.provider).toBe('claude');
  await ended(agent.alias);
  expect((await pawl(['config', 'unset', 'provider'])).code).toBe(0);
});

test('the program is looked up on the caller’s PATH, also after a restart, and where it has moved to', async () => {
  const only = programs('only', 'claude');
  const second = join(place.path, 'second');
  await sampleRepository(second);
  const there = (words: string[], ...directories: string[]) =>
    place.pawl(words, { cwd: second, env: { PATH: [...directories, poorPath].join(delimiter) } });
  expect((await there(['init'])).stdout).toContain('next: pawl work "what to do"\n');
  const agent = agentOf(await there(['work', 'say hello', '--json'], only));
  expect(agent).toMatchObject({ provider: 'claude' });
  expect((await ended(agent.alias)).run).toMatchObject({ status: 'completed', detail: 'the fake is done' });
  expect(starts().at(-1)).toBe(join(only, 'claude'));
  // Another daemon, from a shell that knows nothing of it.
  await pawl(['down']);
  expect((await pawl(['up'])).code).toBe(0);
  expect((await pawl(['resume', agent.alias, 'again'])).code).toBe(0);
  await waitUntil(() => starts().filter((path) => path === join(only, 'claude')).length === 2, {
    what: 'a second start',
  });
  await ended(agent.alias);
  const moved = join(place.path, 'moved');
  renameSync(only, moved);
  expect((await pawl(['resume', agent.alias, 'once more'], moved)).code).toBe(0);
  await waitUntil(() => starts().at(-1) === join(moved, 'claude'), { what: 'a start at the new place' });
  await ended(agent.alias);
});

test('a scripted agent’s change is a draft that only a person merges', async () => {
  const third = join(place.path, 'third');
  await sampleRepository(third);
  const there = (words: string[]) => place.pawl(words, { cwd: third, env: { PATH: poorPath } });
  mkdirSync(join(third, '.pawl'));
  writeFileSync(join(third, '.pawl', 'config.yaml'), 'checks: ["echo passed"]\nqueue: {auto: true}\n');
  await git(third, ['add', '.pawl']);
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.invalid'];
  await git(third, [...identity, 'commit', '--quiet', '-m', 'config']);
  expect((await there(['init', '--no-checks'])).code).toBe(0);
  expect((await there(['work', 'x'])).code).toBe(2);
  const agent = agentOf(await there(['work', 'x', '--provider', 'scripted', '--json']));
  await ended(agent.alias);
  const changes = async () =>
    (JSON.parse((await there(['change', 'ls', '--all', '--json'])).stdout) as { data: ChangeList }).data.changes;
  const [change] = await waitUntil(async () => ((await changes()).length > 0 ? changes() : null), { what: 'a change' });
  expect(change).toMatchObject({ queuedAt: null });
  expect((await there(['change', 'merge', change?.id ?? ''])).code).toBe(0);
  await waitUntil(async () => (await changes())[0]?.detail?.startsWith('as '), { what: 'the merge' });
});

test('a variable that only a provider of config.yaml reads reaches its agents', async () => {
  await using other = await workplace();
  const root = join(other.path, 'shop');
  await sampleRepository(root);
  const directory = join(other.path, 'bin');
  mkdirSync(directory);
  const seen = join(other.path, 'seen');
  const program = fakeAgent(seen).replace('echo "$0"', 'echo "$MY_SERVER $MY_KEY $MY_OTHER"');
  writeFileSync(join(directory, 'mine'), program, { mode: 0o755 });
  const variables = 'variables: { settings: [MY_SERVER], secrets: [MY_KEY] }';
  const account = 'account: { key: MY_KEY }';
  writeFileSync(
    join(other.home, 'config.yaml'),
    `sandbox: off\nproviders:\n  mine: { extends: claude, command: [mine], ${variables}, ${account} }\n`,
  );
  const PATH = [directory, poorPath].join(delimiter);
  const env = { PATH, MY_SERVER: 'http://127.0.0.1:1', MY_KEY: 'sk-mine-4Rt9', MY_OTHER: 'other' };
  expect((await other.pawl(['init'], { cwd: root, env })).code).toBe(0);
  const asked = await other.pawl(['work', 'say hello', '--provider', 'mine', '--json'], { cwd: root, env });
  expect(asked.stderr).toBe('');
  const { alias } = agentOf(asked);
  await waitUntil(
    async () => (await other.pawl(['inspect', alias, '--json'], { cwd: root })).stdout.includes('the fake is done'),
    {
      what: `${alias} to end`,
    },
  );
  expect(readFileSync(seen, 'utf8')).toBe('http://127.0.0.1:1 sk-mine-4Rt9 \n');
});
