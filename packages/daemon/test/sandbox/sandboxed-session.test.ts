import { branchTip, openRepository } from '@pawl/git/repository/repository';
import { defaultSandboxLimits } from '@pawl/schema/home-config';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { runEnded, startTestDaemon, viewOf, writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { sandboxTest } from './machine.ts';

const required = { mode: 'required', readable: [], writable: [], limits: defaultSandboxLimits } as const;

/** The result of a script that an agent ran in its worktree, which ends by writing `answer`. */
async function answerOf(daemon: TestDaemon, script: string): Promise<string> {
  const agent = await daemon.work([{ shell: `{ ${script}\n} >answer 2>&1` }, 'complete']);
  const ended = await daemon.ended(agent.id);
  const path = join(ended.worktree ?? '', 'answer');
  return existsSync(path) ? readFileSync(path, 'utf8') : JSON.stringify(ended.run);
}

sandboxTest(
  'a sandboxed agent works, commits, and reaches the daemon as itself only [sandbox files, faults 8.48]',
  async () => {
    await using daemon = await startTestDaemon({ choices: { sandbox: required } });
    const steps = [
      { write: { path: 'made.txt', content: 'made\n' } },
      { commit: 'made in a sandbox' },
      { shell: 'pawl whoami --json >who; pawl ps >/dev/null 2>ps-failed; echo $? >code; env >environment' },
      'complete',
    ];
    const agent = await daemon.work(steps);
    const ended = await daemon.ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed' });
    const worktree = ended.worktree ?? '';
    expect((await daemon.client.inspectAgent(agent.id)).sessions).toMatchObject([{ sandbox: 'on' }]);
    expect(readFileSync(join(worktree, 'who'), 'utf8')).toContain(agent.id);
    expect(readFileSync(join(worktree, 'environment'), 'utf8')).toContain('PAWL_SANDBOX=1');
    const repository = await openRepository(daemon.repository);
    expect(await git(daemon.repository, ['log', '-1', '--format=%s', `work/${agent.alias}`])).toBe('made in a sandbox');
    expect(await branchTip(repository, `work/${agent.alias}`)).not.toBeNull();
    await waitUntil(() => !existsSync(join(repository.commonDir, 'objects/info/alternates')), { what: 'the fold' });
    await git(daemon.repository, ['fsck', '--strict']);
  },
);

sandboxTest('nothing outlives a sandboxed session', async () => {
  await using daemon = await startTestDaemon({ choices: { sandbox: required } });
  const seconds = `6${process.pid}`;
  await answerOf(daemon, `env -i setsid sleep ${seconds} >/dev/null 2>&1 & echo left`);
  expect(await promisify(execFile)('pgrep', ['-f', `^sleep ${seconds}`]).catch(({ code }) => code)).toBe(1);
});

sandboxTest('a sandboxed agent outlives a killed daemon, and reaches the next one', async () => {
  await using place = await temporaryDirectory();
  const [home, repository, go] = ['home', 'sample', 'go'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  await sampleRepository(repository);
  await mkdir(home, { mode: 0o700 });
  await mkdir(go);
  await writeFile(join(home, 'config.yaml'), `sandbox: required\nsandbox_options: {readable: ['${go}']}\n`);
  const first = await readyDaemon(home);
  await first.client.addProject({ path: repository });
  const scenario = await writeScenario(place.path, [
    { shell: `echo ready >ready; until [ -e '${go}/on' ]; do sleep 0.05; done; pawl whoami --json >who` },
    { commit: 'after the kill' },
    'complete',
  ]);
  const request = { path: repository, task: 'a task', provider: 'scripted', options: { scenario } };
  const { agent } = await first.client.work(request, randomUUID());
  const worktree = await waitUntil(async () => (await viewOf(first.client, agent.id)).worktree, { what: 'a worktree' });
  await waitUntil(() => existsSync(join(worktree, 'ready')), { what: 'the agent to begin' });
  await first.kill();
  const second = await readyDaemon(home);
  await writeFile(join(go, 'on'), '');
  expect((await runEnded(second.client, agent.id)).run).toMatchObject({ status: 'completed' });
  expect(readFileSync(join(worktree, 'who'), 'utf8')).toContain(agent.id);
  expect(await git(repository, ['log', '-1', '--format=%s', `work/${agent.alias}`])).toBe('after the kill');
  expect(existsSync(join(repository, '.git/objects/info/alternates'))).toBe(false);
  await second.kill('SIGTERM');
});

sandboxTest('a planning agent can write its output and nothing else [planner 25]', async () => {
  await using daemon = await startTestDaemon({ choices: { sandbox: required } });
  const script = [
    'echo x >elsewhere.txt && echo wrote-elsewhere',
    'echo x >>README.md && echo wrote-tracked',
    'git commit --allow-empty -m x && echo committed',
    'mkdir -p .pawl/output/phases && echo x >.pawl/output/free.txt && echo wrote-output',
  ].join('\n');
  const steps = [{ shell: `{ ${script}\n} >.pawl/output/answer 2>/dev/null` }, 'complete', 'complete'];
  const agent = await daemon.work(steps, { task: 'discuss it', mode: 'discuss', definition: 'architect' });
  const ended = await daemon.ended(agent.id);
  expect(readFileSync(join(ended.worktree ?? '', '.pawl/output/answer'), 'utf8')).toBe('wrote-output\n');
});
