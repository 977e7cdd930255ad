import { endurance } from '@pawl/testing/endurance';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import {
  checkScript,
  commitFiles,
  commitOn,
  configWith,
  everyTip,
  propose,
  queueNow,
  reaches,
} from '../support/merge-queue.ts';

test(
  'good branches pass beside some that fail together, some that conflict, one that hangs and one that is flaky [fault 30]',
  { timeout: 300_000 },
  async () => {
    await using daemon = await startTestDaemon();
    const { client, repository } = daemon;
    const runs = join(repository, '..', 'runs');
    const config = configWith('sh check.sh', 'fixer: false\n').replace('timeout_minutes: 1', 'timeout_minutes: 0.05');
    const base = await commitFiles(repository, { 'check.sh': checkScript(runs), '.pawl/config.yaml': config });
    await client.pauseQueue({ path: repository });
    const opened: Record<string, string[]> = {};
    const open = async (kind: string, files: Record<string, string>) => {
      const number = Object.values(opened).flat().length;
      const { id } = await propose(client, repository, `work/${kind}-${number}`, files, base);
      (opened[kind] ??= []).push(id);
    };
    const good = endurance({ whole: 10, small: 3 });
    for (let number = 0; number < endurance({ whole: 5, small: 2 }); number++)
      await open('together', { [`pair-a-${number}`]: 'x\n' });
    for (let number = 0; number < endurance({ whole: 3, small: 2 }); number++)
      await open('conflict', { 'README.md': `# As ${number} wants it\n` });
    await open('flaky', { 'first-time.txt': 'x\n' });
    for (let number = 0; number < good; number++) await open('good', { [`file-${number}.txt`]: 'x\n' });
    await open('hang', { 'hang.txt': 'x\n' });
    await client.resumeQueue({ path: repository });
    const ends: Record<string, string[]> = {};
    await waitUntil(async () => (await queueNow(client)).changes.every(({ state }) => state === 'ejected'), {
      timeoutMs: 240_000,
      what: 'the queue to be empty',
    });
    for (const [kind, ids] of Object.entries(opened))
      for (const id of ids) (ends[kind] ??= []).push((await reaches(client, id, 'merged', 'ejected')).state);
    const count = (kind: string) => ends[kind]?.filter((state) => state === 'merged').length;
    expect(['together', 'conflict', 'hang', 'flaky', 'good'].map(count)).toEqual([1, 1, 0, 1, good]);
    const { change: hung } = await client.showChange(opened['hang']?.[0] ?? '');
    expect(hung.ejection?.reason).toMatch(/ended after/);
    const clone = join(repository, '..', 'replay');
    await git(repository, ['clone', '--quiet', '--no-checkout', repository, clone]);
    const tips = await everyTip(repository);
    for (const tip of tips.slice(tips.indexOf(base))) {
      await git(clone, ['checkout', '--quiet', '--detach', tip]);
      expect(execFileSync('sh', ['check.sh'], { cwd: clone, encoding: 'utf8' })).toContain('passed');
    }
  },
);

test('a base that moves on every attempt does not block a change forever [section 7]', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const pushes = join(repository, '..', 'pushes');
  // Someone pushes during each of the first checks.
  const run = [
    `n=$(cat '${pushes}' 2>/dev/null || echo 0)`,
    `if [ "$n" -lt 4 ]; then echo $((n + 1)) > '${pushes}'; touch '${pushes}'-wanted; while [ -e '${pushes}'-wanted ]; do sleep 0.02; done; fi`,
    'echo checked',
  ].join('\n');
  await git(repository, ['checkout', '--quiet', '-b', 'elsewhere']);
  const config = `checks:\n  - run: |\n${run.replaceAll(/^/gm, '      ')}\nqueue: { parallel: 1, auto: true }\n`;
  await commitOn(repository, 'main', { '.pawl/config.yaml': config });
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  let number = 0;
  let busy = false;
  const pusher = setInterval(() => {
    if (busy || !existsSync(`${pushes}-wanted`)) return;
    busy = true;
    number++;
    void commitOn(repository, 'main', { [`pushed-${number}`]: 'x\n' }).then(() => {
      rmSync(`${pushes}-wanted`);
      busy = false;
    });
  }, 50);
  try {
    const { mergedCommit } = await reaches(client, change.id, 'merged');
    expect(number).toBeGreaterThanOrEqual(3);
    const files = await git(repository, ['ls-tree', '--name-only', mergedCommit ?? '']);
    expect(files).toContain(`pushed-${number}`);
  } finally {
    clearInterval(pusher);
  }
});

/**
 * Plants commands wherever git would run them, in a repository that agents share. Returns the file that one creates
 * when it runs.
 */
async function plant(repository: string): Promise<string> {
  const around = join(repository, '..');
  const marker = join(around, 'planted');
  const script = join(around, 'planted.sh');
  writeFileSync(script, `#!/bin/sh\ntouch '${marker}'\nexit 0\n`, { mode: 0o755 });
  const keys = {
    'core.fsmonitor': script,
    'core.hooksPath': join(around, 'hooks'),
    'core.sshCommand': script,
    'core.gitProxy': script,
    'core.askPass': script,
    'core.pager': script,
    'core.editor': script,
    'core.alternateRefsCommand': script,
    'diff.external': script,
    'diff.evil.textconv': script,
    'diff.evil.command': script,
    'filter.evil.clean': script,
    'filter.evil.smudge': script,
    'filter.evil.process': script,
    'merge.evil.driver': `${script} %O %A %B`,
    'credential.helper': `!${script}`,
    'gpg.program': script,
    'commit.gpgSign': 'true',
    'push.gpgSign': 'true',
    'uploadpack.packObjectsHook': script,
    'protocol.ext.allow': 'always',
    // Settings that change the transport of the URL, and the programs at its end.
    [`url.ext::${script} %S .insteadOf`]: 'ssh://',
    'remote.origin.uploadpack': script,
    'remote.origin.receivepack': script,
    'remote.origin.vcs': 'ext',
  };
  for (const [key, value] of Object.entries(keys)) await git(repository, ['config', key, value]);
  mkdirSync(join(around, 'hooks'));
  const hooks = ['post-checkout', 'post-commit', 'post-merge', 'reference-transaction', 'pre-push', 'update'];
  for (const hook of hooks) copyFileSync(script, join(around, 'hooks', hook));
  return marker;
}

/** Gives the repository an origin behind ssh, reachable by the person's own environment. */
async function cloneBehindSsh(repository: string): Promise<string> {
  const around = join(repository, '..');
  const origin = join(around, 'origin.git');
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(repository, ['remote', 'add', 'origin', `ssh://host${origin}`]);
  const ssh = join(around, 'ssh.sh');
  writeFileSync(ssh, `#!/bin/sh\necho used >> '${ssh}.log'\nexec sh -c "$2"\n`, { mode: 0o755 });
  vi.stubEnv('GIT_SSH_COMMAND', ssh);
  vi.stubEnv('GIT_SSH_VARIANT', 'simple');
  onTestFinished(() => void vi.unstubAllEnvs());
  return origin;
}

test.each([
  ['here', false],
  ['on a remote', true],
])(
  'nothing planted in the shared git directory runs when a change is checked and merged %s [fault 40]',
  async (_, isRemote) => {
    await using daemon = await startTestDaemon();
    const { client, repository } = daemon;
    await commitFiles(repository, { '.pawl/config.yaml': configWith('git status && git log -1 && ls') });
    const origin = isRemote ? await cloneBehindSsh(repository) : null;
    if (isRemote) await client.allowPush({ path: repository });
    const marker = await plant(repository);
    const script = `${marker}.sh`;
    // Also planted by an agent's commit: attributes, a submodule, a nested repository.
    const files = {
      '.gitattributes': '* filter=evil diff=evil merge=evil\n*.bin filter=lfs diff=lfs merge=lfs -text\n',
      '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% planted\n',
      'inner/HEAD': 'ref: refs/heads/main\n',
      'inner/config': `[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = ${script}\n`,
      'inner/objects/x': 'x\n',
      'inner/refs/x': 'x\n',
      'README.md': '# One\n',
    };
    await commitOn(repository, 'work/one', files);
    // The agent's own git commands do not count.
    rmSync(marker, { force: true });
    const { change } = await client.openChange({ path: repository, branch: 'work/one' });
    await client.diffChange(change.id);
    const { mergedCommit } = await reaches(client, change.id, 'merged', 'green');
    if (origin !== null) {
      expect(await git(origin, ['rev-parse', 'main'])).toBe(mergedCommit);
      expect(readFileSync(join(repository, '..', 'ssh.sh.log'), 'utf8')).toContain('used');
    }
    expect(existsSync(marker)).toBe(false);
    expect((await queueNow(client)).emergency).toBeNull();
    // The same in plain git does run something.
    await git(repository, isRemote ? ['fetch', 'origin'] : ['status']).catch(() => null);
    expect(existsSync(marker)).toBe(true);
  },
);
