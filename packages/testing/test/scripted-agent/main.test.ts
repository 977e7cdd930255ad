import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../src/sample-repository.ts';
import { AgentProcess, blocksOf, source, stage } from './agent-process.ts';

const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a10';

test('without a scenario it notes its task, commits and completes, though git knows no user', async () => {
  await using on = await stage();
  const environment = { ...on.environment, PAWL_AGENT_NAME: 'quick-fox' };
  const agent = new AgentProcess(source, ['--session-id', id], on.directory, environment);
  agent.child.stdin.end('<task>\nCount the stars\n</task>\n\n<workspace>Here.</workspace>\n');
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.stderr).toBe('');
  expect(readFileSync(join(on.directory, 'notes/quick-fox.md'), 'utf8')).toContain('\nCount the stars\n');
  expect(await git(on.directory, ['log', '-1', '--format=%s|%an|%ae'])).toBe(
    'docs: notes of quick-fox|Scripted Agent|scripted-agent@example.invalid',
  );
  expect(await git(on.directory, ['show', '--name-only', '--format=', 'HEAD'])).toBe('notes/quick-fox.md');
  const signal: unknown = JSON.parse(readFileSync(join(on.directory, '.pawl/output/signal.json'), 'utf8'));
  expect(signal).toEqual({ status: 'done', result: 'I wrote notes/quick-fox.md and committed it.' });
  expect(agent.said[0]).toBe('I will take a note of this task: Count the stars');
});

test('the stream has the shape of Claude Code', async () => {
  await using on = await stage();
  const steps = [{ think: 'hm' }, { say: 'hello there' }, { shell: 'echo hi' }, { complete: { summary: 'all good' } }];
  const agent = await on.play(steps, { args: ['--session-id', id, '--model', 'small'], prompt: 'four' });
  const [init, ...rest] = agent.lines;
  expect(init).toMatchObject({ type: 'system', subtype: 'init', cwd: on.directory, model: 'small', mcp_servers: [] });
  expect(init?.['tools']).toContain('Bash');
  expect(agent.lines.every((line) => line.session_id === id)).toBe(true);
  expect(rest.map((line) => line.type)).toEqual(['assistant', 'assistant', 'assistant', 'user', 'assistant', 'result']);
  expect(rest[1]).toMatchObject({
    message: {
      type: 'message',
      role: 'assistant',
      model: 'small',
      content: [{ type: 'text', text: 'hello there' }],
      usage: { input_tokens: 0, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    },
  });
  const [thinking, , call] = blocksOf(agent.lines, 'assistant');
  const [outcome] = blocksOf(agent.lines, 'user');
  expect(thinking).toMatchObject({ type: 'thinking', thinking: 'hm' });
  expect(call).toMatchObject({ type: 'tool_use', name: 'Bash', input: { command: 'echo hi' } });
  expect(outcome).toEqual({ type: 'tool_result', tool_use_id: call?.['id'], content: 'hi', is_error: false });
  expect(rest.at(-1)).toMatchObject({
    subtype: 'success',
    is_error: false,
    result: 'all good',
    num_turns: 4,
    usage: { input_tokens: 1, output_tokens: 1 + 3 + 6 + 2 },
    total_cost_usd: 0.000183,
  });
  const ids = agent.lines.flatMap((line) =>
    line.type === 'assistant' ? [(line['message'] as { id: string }).id] : [],
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('a bad command line is refused with exit 2 and one clear line', async () => {
  await using on = await stage();
  const agent = on.start(['--frobnicate']);
  expect(await agent.exited).toEqual([2, null]);
  expect(agent.stderr).toBe('scripted-agent: Unknown option --frobnicate. Run it with --help to see the options.\n');
  expect(agent.bytes.length).toBe(0);
});

test('--help explains it', async () => {
  await using on = await stage();
  const agent = on.start(['--help']);
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.bytes.toString()).toContain('Usage: pawl scripted-agent');
});

test('the prompt may be a word, and values may begin with a dash', async () => {
  await using on = await stage();
  const scenario = await on.scenario([{ say: '{prompt}' }]);
  const agent = on.start(['-p', `--scenario=${scenario}`, '--append-system-prompt', '- be kind', '--', '-do it']);
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.said).toEqual(['-do it']);
});

test('no prompt at all is an error that says so', async () => {
  await using on = await stage();
  const agent = on.start();
  agent.child.stdin.end(' \n');
  expect(await agent.exited).toEqual([2, null]);
  expect(agent.stderr).toContain('There is no prompt.');
});

test.each([id, '../../etc/passwd'])(
  'resuming the unknown conversation %s is refused as Claude Code does',
  async (unknown) => {
    await using on = await stage();
    const agent = on.start(['--resume', unknown]);
    expect(await agent.exited).toEqual([1, null]);
    const message = `No conversation found with session ID: ${unknown}`;
    expect(agent.lines).toHaveLength(1);
    expect(agent.lines[0]).toMatchObject({ type: 'result', is_error: true, errors: [message], session_id: unknown });
    expect(agent.stderr).toContain(message);
  },
);

test('a session id is used only once, and the conversation is private', async () => {
  await using on = await stage();
  const first = await on.play([{ say: 'one' }], { args: ['--session-id', id] });
  const second = await on.play([{ say: 'two' }], { args: ['--session-id', id] });
  expect([first.code, second.code]).toEqual([0, 1]);
  expect(second.stderr).toContain('is already in use');
  expect(readdirSync(on.state)).toEqual([`${id}.json`]);
  const modes = [on.state, join(on.state, `${id}.json`)].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test('the built-in scenario answers follow-ups too', async () => {
  await using on = await stage();
  const first = on.start(['--session-id', id]);
  first.child.stdin.end('Begin');
  await first.exited;
  const second = on.start(['--resume', id]);
  second.child.stdin.end('And now?');
  expect(await second.exited).toEqual([0, null]);
  expect(second.said).toEqual([
    'I have read your message: And now?',
    'I have read 2 messages and have nothing to add.',
  ]);
});

test('it completes outside a repository as well; the failed commit is shown', async () => {
  await using on = await stage();
  const agent = on.start([], { GIT_DIR: join(on.path, 'nowhere') });
  agent.child.stdin.end('Begin');
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.toolResults.some((result) => result.is_error && result.content.includes('not a git repository'))).toBe(
    true,
  );
  expect(existsSync(join(on.directory, '.pawl/output/signal.json'))).toBe(true);
});

test('the first line is out before the scenario is read', async () => {
  await using on = await stage();
  const agent = on.start(['--scenario', 'missing.yaml']);
  agent.child.stdin.end('Begin');
  expect(await agent.exited).toEqual([2, null]);
  expect(agent.lines.map((line) => line.type)).toEqual(['system', 'result']);
  expect(agent.results[0]).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  expect(agent.stderr).toContain('missing.yaml cannot be read');
});

test('only a scenario file loads the libraries that read it', async () => {
  await using on = await stage();
  const hook = `import { registerHooks } from 'node:module'; import { writeSync } from 'node:fs';
    const resolve = (name, context, next) => (/^(yaml|zod)$/.test(name) && writeSync(2, name + ' '), next(name, context));
    registerHooks({ resolve });`;
  const env = { ...on.environment, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
  const loaded = async (args: string[]) => {
    const agent = new AgentProcess(source, [...args, 'Begin'], on.directory, env);
    await agent.exited;
    return [...new Set(agent.stderr.split(' '))].filter((name) => name !== '').toSorted();
  };
  expect(await loaded([])).toEqual([]);
  expect(await loaded(['--scenario', await on.scenario([{ say: 'x' }])])).toEqual(['zod']);
  expect(await loaded(['--scenario', await on.scenario([{ say: 'x' }], 'scenario.yaml')])).toEqual(['yaml', 'zod']);
});
