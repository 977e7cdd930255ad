import { strayProcesses } from '@pawl/host/session/stray';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputDifferences, outputHas, outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const complete = { complete: { summary: 'all done' } };

describe('a worker', () => {
  test('works in its own worktree, commits on its own branch, and completes [S3-07, S3-15…32, S4-22, 7.10]', async () => {
    const main = await git(daemon.repository, ['rev-parse', 'main']);
    const agent = await daemon.work([
      { write: { path: 'a.txt', content: 'a' } },
      { commit: 'add a' },
      { usage: { input: 30, output: 7 } },
      complete,
    ]);
    expect(agent.branch).toBe(`work/${agent.alias}`);
    const ended = await daemon.ended(agent.id);
    expect(ended).toMatchObject({
      status: 'running',
      activity: 'idle',
      run: { status: 'completed', detail: 'all done' },
      session: { no: 1, exitCode: 0 },
    });
    expect(ended.usage.inputTokens).toBeGreaterThanOrEqual(30);
    expect(await git(daemon.repository, ['log', '-1', '--format=%s', `work/${agent.alias}`])).toBe('add a');
    expect(await git(daemon.repository, ['rev-parse', 'main'])).toBe(main);
    expect(await git(daemon.repository, ['status', '--porcelain'])).toBe('');
    const { worktree, sessions } = await daemon.client.inspectAgent(agent.id);
    expect(worktree).toMatchObject({ exists: true, commits: 1, changed: 0, untracked: 0 });
    expect(await daemon.client.inspectAgent(agent.id, { worktree: false })).toMatchObject({ worktree: null, sessions });
    expect(sessions[0]?.environment).toContain('PAWL_AGENT_TOKEN');
  });

  test('emits its events in order and once each [S3-25]', async () => {
    const agent = await daemon.work([complete]);
    await daemon.ended(agent.id);
    const { events } = await daemon.client.events({ agent: agent.id });
    const story = [
      'agent.forked',
      'run.started',
      'worktree.created',
      'session.planned',
      'session.started',
      'session.ended',
      'run.ended',
    ];
    // Consequences of its end, such as the announcement mail, come now or a moment later.
    expect(events.map((event) => event.type).filter((type) => story.includes(type))).toEqual(story);
    expect(events.every((event, index) => index === 0 || event.seq > (events[index - 1]?.seq ?? 0))).toBe(true);
  });

  test('finds its assignment in .pawl/input with the placeholders replaced and the manifest naming it [S3-03, S3-18]', async () => {
    const agent = await daemon.work([complete], { task: 'report as {AGENT_NAME} ({AGENT_ID})' });
    await daemon.ended(agent.id);
    const input = join(agent.worktree ?? '', '.pawl', 'input');
    expect(readFileSync(join(input, 'task.md'), 'utf8')).toBe(`report as ${agent.alias} (${agent.id})\n`);
    expect(JSON.parse(readFileSync(join(input, 'manifest.json'), 'utf8'))).toMatchObject({
      agentId: agent.id,
      agentName: agent.alias,
      files: ['task.md'],
    });
    expect(await git(agent.worktree ?? '', ['status', '--porcelain'])).toBe('');
  });

  test('has its output stored byte for byte, whatever it prints', async () => {
    const agent = await daemon.work([
      { garbage: { bytes: 200_000, seed: 7 } },
      { flood: { lines: 3_000 } },
      { garbage: { bytes: 50_000, seed: 9, line_bytes: 3_000_000 } },
      complete,
    ]);
    const ended = await daemon.ended(agent.id);
    expect(ended.run?.status).toBe('completed');
    expect(await outputDifferences(daemon.client, agent.id)).toEqual([]);
  });
});

describe('the signal', () => {
  test('with questions leaves the agent waiting for input [S3-31, S3-33]', async () => {
    const agent = await daemon.work([{ signal: { status: 'questions', questions: ['which colour?'] } }]);
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'waiting_for_input',
      detail: 'which colour?',
      run: { status: 'completed', questions: [{ id: 'q1', question: 'which colour?' }] },
    });
  });

  test('with an error fails the run with the agent’s own message [S3-31]', async () => {
    const agent = await daemon.work([{ signal: { status: 'error', error: 'no compiler here' } }]);
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'crashed',
      run: { status: 'failed', detail: 'no compiler here' },
    });
  });

  test('that comes after the result event still counts [W3-07]', async () => {
    const agent = await daemon.work([{ signal: { status: 'late', result: 'late but here', delay: '200ms' } }]);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed', detail: 'late but here' } });
  });

  test('that comes before the work is over counts as it is when the process exits [5.2.1]', async () => {
    const early = `mkdir -p .pawl/output && echo '{"status":"done","result":"too early"}' > .pawl/output/signal.json`;
    const agent = await daemon.work([
      { shell: early },
      { write: { path: 'later.txt', content: 'later' } },
      { commit: 'work that came after the signal' },
      { signal: { status: 'done', result: 'now it is done' } },
    ]);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed', detail: 'now it is done' } });
    const subject = await git(daemon.repository, ['log', '-1', '--format=%s', `work/${agent.alias}`]);
    expect(subject).toBe('work that came after the signal');
  });

  test('that is missing is requested, in the same conversation and worktree, with the next session number [S3-34, S3-43]', async () => {
    const agent = await daemon.work([{ say: 'I forgot' }, 'wait', { say: 'turns: {turns}' }, complete]);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' }, session: { no: 2 } });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map((session) => session.purpose)).toEqual(['work', 'missing-signal']);
    expect(new Set(sessions.map((session) => session.providerSessionId)).size).toBe(1);
    expect(await outputText(daemon.client, agent.id)).toContain('turns: 2');
  });

  test('that is half-written counts as missing [W3-07]', async () => {
    const agent = await daemon.work([{ signal: 'partial' }, 'wait', complete]);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed', detail: 'all done' } });
  });

  test('that never comes is requested three times and then the agent has crashed [7.12]', async () => {
    const agent = await daemon.work([
      { say: 'one' },
      'wait',
      { say: 'two' },
      'wait',
      { say: 'three' },
      'wait',
      { say: 'four' },
      'wait',
      complete,
    ]);
    const ended = await daemon.ended(agent.id);
    expect(ended).toMatchObject({ activity: 'crashed', session: { no: 4 }, run: { status: 'failed' } });
    expect(ended.run?.detail).toMatch(/no signal/);
  });

  test('one directory too deep is found, and an old one from the repository is ignored [S3-28, 5.2.2, 5.2.3]', async () => {
    const deep = await daemon.work([
      { shell: `mkdir -p sub/.pawl/output && echo '{"status":"done","result":"deep"}' > sub/.pawl/output/signal.json` },
    ]);
    expect(await daemon.ended(deep.id)).toMatchObject({ run: { status: 'completed', detail: 'deep' } });
    await git(daemon.repository, ['checkout', '--quiet', '-b', 'stale']);
    mkdirSync(join(daemon.repository, '.pawl', 'output'), { recursive: true });
    writeFileSync(join(daemon.repository, '.pawl', 'output', 'signal.json'), '{"status":"done","result":"stale"}');
    await git(daemon.repository, ['add', '--force', '.pawl']);
    await git(daemon.repository, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'a signal']);
    await git(daemon.repository, ['checkout', '--quiet', 'main']);
    const stale = await daemon.work([{ crash: { code: 3 } }], { base: 'stale' });
    expect(await daemon.ended(stale.id)).toMatchObject({ run: { status: 'failed', detail: 'it exited with code 3' } });
  });

  test('of a process that does not exit afterwards ends that process [W3-09]', async () => {
    await using quick = await startTestDaemon({ timing: { hungAfterSignalMs: 400, stopGraceMs: 500 } });
    const agent = await quick.work([
      { shell: `mkdir -p .pawl/output && echo '{"status":"done","result":"hung"}' > .pawl/output/signal.json` },
      { hang: { ignore_term: true } },
    ]);
    expect(await quick.ended(agent.id)).toMatchObject({ run: { status: 'completed', detail: 'hung' } });
  });
});

describe('a process that reports its result and never exits', () => {
  const init = '{"type":"system","subtype":"init","session_id":"one"}';
  const result = '{"type":"result","subtype":"success","is_error":false,"result":"all done","session_id":"one"}';
  /** Reports a result with these words, and ignores the wish that it exits. */
  const staying = (line: string) =>
    `trap '' TERM; cat > /dev/null; echo '${init}'; echo '${line}'; while :; do sleep 1; done`;
  const providerThat = (line: string) => ({
    extends: 'generic',
    command: ['/bin/sh', '-c', staying(line)] as [string, ...string[]],
    output_format: 'claude-stream-json' as const,
  });

  test('is ended, and its result counts [W3-09]', async () => {
    await using quick = await startTestDaemon({
      timing: { hungAfterResultMs: 400, stopGraceMs: 300 },
      providers: { stayer: providerThat(result), failer: providerThat(result.replace('false', 'true')) },
    });
    const stayer = await quick.work(undefined, { provider: 'stayer' });
    const failer = await quick.work(undefined, { provider: 'failer' });
    expect(await quick.ended(stayer.id)).toMatchObject({ run: { status: 'completed', detail: 'all done' } });
    expect(await quick.ended(failer.id)).toMatchObject({ run: { status: 'failed', detail: 'all done' } });
    const { sessions } = await quick.client.inspectAgent(stayer.id);
    expect(sessions).toMatchObject([{ exitCode: 137 }]);
  });
});

describe('failures', () => {
  test('a usage limit leaves the agent exhausted until it ends', async () => {
    const agent = await daemon.work([{ limit: { until: '2030-01-01T00:00:00Z' } }]);
    await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'exhausted', {
      what: 'it to be exhausted',
    });
    expect(await viewOf(daemon.client, agent.id)).toMatchObject({
      exhaustedUntil: Date.parse('2030-01-01T00:00:00Z'),
      run: { status: 'running' },
    });
    await daemon.client.stopAgent(agent.id);
    expect(await daemon.ended(agent.id)).toMatchObject({ activity: 'stopped', run: { status: 'cancelled' } });
  });

  test('a crash by signal is named', async () => {
    const agent = await daemon.work([{ say: 'about to go' }, { crash: { signal: 'SIGKILL' } }]);
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'crashed',
      run: { detail: 'it was ended by signal 9' },
    });
  });

  test('stop ends everything, even processes that ignore TERM or have detached, and leaves the work [5.2.12]', async () => {
    await using quick = await startTestDaemon({ timing: { stopGraceMs: 500 } });
    const agent = await quick.work([
      { write: { path: 'kept.txt', content: 'kept' } },
      { fork_child: { detach: true, seconds: 300 } },
      { say: 'standing by' },
      { hang: { ignore_term: true } },
    ]);
    await outputHas(quick.client, agent.id, 'standing by');
    const { sessions } = await quick.client.inspectAgent(agent.id);
    const marker = sessions[0]?.id ?? '';
    expect(strayProcesses(marker).length).toBeGreaterThan(1);
    const { agent: stopped } = await quick.client.stopAgent(agent.alias);
    expect(stopped).toMatchObject({ activity: 'stopped', run: { status: 'cancelled' } });
    expect(strayProcesses(marker)).toEqual([]);
    expect(readFileSync(join(agent.worktree ?? '', 'kept.txt'), 'utf8')).toBe('kept');
    expect((await quick.client.stopAgent(agent.alias)).agent.activity).toBe('stopped');
  });

  test('processes that a finished agent left running are ended with it', async () => {
    const agent = await daemon.work([{ fork_child: { detach: true, seconds: 300 } }, complete]);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' } });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(strayProcesses(sessions[0]?.id ?? '')).toEqual([]);
  });

  test('a killed shim is noticed and its agent ended', async () => {
    const agent = await daemon.work([{ say: 'standing by' }, 'hang']);
    await outputHas(daemon.client, agent.id, 'standing by');
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    process.kill(sessions[0]?.pid ?? 0, 'SIGKILL');
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'crashed',
      run: { detail: 'the process vanished without an exit code' },
    });
    expect(strayProcesses(sessions[0]?.id ?? '')).toEqual([]);
  });

  test('a worktree deleted under the agent fails the run and nothing else', async () => {
    const gate = join(daemon.home.root, 'deleted');
    const busy = { shell: `until [ -e '${gate}' ]; do sleep 0.02; done` };
    const agent = await daemon.work([{ say: 'standing by' }, busy, { crash: { code: 0 } }]);
    await outputHas(daemon.client, agent.id, 'standing by');
    rmSync(agent.worktree ?? '', { recursive: true });
    writeFileSync(gate, '');
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'crashed',
      run: { status: 'failed', detail: expect.stringContaining('worktree was deleted') as string },
    });
    const next = await daemon.work([complete]);
    expect(await daemon.ended(next.id)).toMatchObject({ run: { status: 'completed' } });
  });

  test('the person sees why a start failed [S3-17]', async () => {
    const place = join(daemon.home.worktrees, 'sample', 'blocked');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'somebody-elses'), 'file');
    const agent = await daemon.work(['complete'], { alias: 'blocked' });
    const { run } = await daemon.ended(agent.id);
    expect(run).toMatchObject({ status: 'failed', detail: expect.stringContaining(place) as string });
    expect(readFileSync(join(place, 'somebody-elses'), 'utf8')).toBe('file');
  });

  test('a repository cannot make Pawl write or delete outside the worktree', async () => {
    const outside = join(daemon.home.root, '..', 'outside');
    mkdirSync(join(outside, 'output', 'signal.json'), { recursive: true });
    writeFileSync(join(outside, 'precious'), 'precious');
    await git(daemon.repository, ['checkout', '--quiet', '-b', 'links']);
    mkdirSync(join(daemon.repository, '.pawl', 'input'), { recursive: true });
    for (const name of ['manifest.json', 'manifest.json.tmp', 'task.md', 'task.md.tmp']) {
      symlinkSync(join(outside, 'precious'), join(daemon.repository, '.pawl', 'input', name));
    }
    mkdirSync(join(daemon.repository, 'sub'));
    symlinkSync(outside, join(daemon.repository, 'sub', '.pawl'));
    await git(daemon.repository, ['add', '--force', '.']);
    await git(daemon.repository, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'links']);
    await git(daemon.repository, ['checkout', '--quiet', 'main']);
    const agent = await daemon.work([complete], { base: 'links' });
    expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('precious');
    expect(existsSync(join(outside, 'output', 'signal.json'))).toBe(true);
  });

  test('a long final message is cut in lists and stored whole', async () => {
    const agent = await daemon.work([{ signal: { status: 'done', result: 'w'.repeat(100_000) } }]);
    const { run } = await daemon.ended(agent.id);
    expect(run?.status).toBe('completed');
    expect(run?.detail?.length).toBeLessThan(3_000);
  });

  test('output without a final newline, and lines over many chunks, are shown whole', async () => {
    const long = 'x'.repeat(600_000);
    const script = `for n in 1 2 3; do head -c 600000 /dev/zero | tr '\\0' x; echo " $n"; done >&2; printf 'no end' >&2; exit 0`;
    const agent = await daemon.work([
      { shell: `sh -c '${script.replaceAll("'", `'\\''`)}' 2>>/proc/$PPID/fd/2` },
      complete,
    ]);
    await daemon.ended(agent.id);
    const shown: string[] = [];
    for (let after = 0, more = true; more;) {
      const page = await daemon.client.output(agent.id, { after, format: 'events', limit: 1 });
      for (const chunk of page.chunks) {
        if (chunk.stream === 'stderr')
          for (const event of chunk.events ?? []) if (event.type === 'unknown') shown.push(event.text);
      }
      after = page.chunks.at(-1)?.id ?? after;
      ({ more } = page);
    }
    expect(shown).toEqual([`${long} 1`, `${long} 2`, `${long} 3`, 'no end']);
  });

  test('refusals say why: no project, no such agent, ambiguous, unknown provider, taken alias, bad base [W4-11, W4-14, 7.10]', async () => {
    const refused = (promise: Promise<unknown>) =>
      promise.then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
    expect(await refused(daemon.work(undefined, { path: '/' }))).toBe('not_a_repository');
    expect(await refused(daemon.client.inspectAgent('nobody-here'))).toBe('agent_not_found');
    expect(await refused(daemon.work(undefined, { provider: 'nope' }))).toBe('unknown_provider');
    expect(await refused(daemon.work(undefined, { base: '--upload-pack=touch /tmp/x' }))).toBe('invalid_input');
    expect(await refused(daemon.work(undefined, { base: 'no-such-branch' }))).toBe('not_found');
    expect(await refused(daemon.work(undefined, { alias: '../x' }))).toBe('invalid_input');
    expect(await refused(daemon.work(undefined, { task: ' ' }))).toBe('invalid_input');
    expect(await refused(daemon.work(undefined, { task: 'x'.repeat(1024 * 1024 + 1) }))).toBe('too_large');
    const agent = await daemon.work([complete], { alias: 'given-name', task: 'x'.repeat(1024 * 1024) });
    expect(agent.alias).toBe('given-name');
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' } });
    expect(await refused(daemon.work([complete], { alias: 'given-name' }))).toBe('conflict');
    await git(daemon.repository, ['branch', 'work/taken-branch']);
    expect(await refused(daemon.work([complete], { alias: 'taken-branch' }))).toBe('conflict');
  });
});
