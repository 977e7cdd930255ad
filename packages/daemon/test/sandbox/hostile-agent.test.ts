import { defaultChoices } from '@pawl/daemon/platform/platform';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { limited, sandboxTest } from './machine.ts';

const { sandbox, network } = defaultChoices;

/** Runs each attempt as an agent, and returns the names of those that worked. The last line proves that all were tried. */
async function worked(daemon: TestDaemon, attempts: Record<string, string>): Promise<string[]> {
  const tries = Object.entries(attempts).map(([name, attempt]) => `(${attempt}) >/dev/null 2>&1 && echo "${name}"`);
  const agent = await daemon.work([{ shell: `{ ${tries.join('\n')}\necho end; } >answer 2>&1` }, 'complete']);
  const { worktree, run, session } = await daemon.ended(agent.id);
  expect(session?.sandbox).toBe('on');
  const path = join(worktree ?? '', 'answer');
  if (!existsSync(path)) return [JSON.stringify(run)];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.at(-1) === 'end' ? lines.slice(0, -1) : [...lines, 'the script did not come to its end'];
}

/** A command that succeeds if it connects to an address. */
const connects = (host: string, port: number) =>
  `'${process.execPath}' -e "require('node:net').connect(${port}, '${host}', () => process.exit(0)).on('error', () => process.exit(1)); setTimeout(() => process.exit(1), 2000)"`;

sandboxTest('a hostile agent with the default settings gets nowhere [sandbox files, sandbox processes]', async () => {
  await using daemon = await startTestDaemon({ choices: { sandbox, network } });
  const { home, repository, port } = daemon;
  const other = await daemon.rested();
  const git = join(repository, '.git');
  const attempts = {
    'write a hook': `echo x >'${git}/hooks/pre-commit'`,
    'write the config': `git config core.fsmonitor x || echo x >>'${git}/config'`,
    'write the attributes': `echo x >'${git}/info/attributes'`,
    'move main': `git update-ref refs/heads/main HEAD~0 && echo x >'${git}/refs/heads/main'`,
    'read another worktree': `ls '${other.worktree}/README.md'`,
    'read the token': `cat '${home.token}'`,
    'read the database': `ls '${home.root}'/*.db '${home.root}'/*.sqlite`,
    'read other sessions': `[ "$(ls '${home.sessions}' | wc -l)" -gt 1 ]`,
    'read accounts': `ls '${home.accounts}'`,
    'read the environment of the daemon': `cat /proc/${process.pid}/environ`,
    'read the memory of the daemon': `dd if=/proc/${process.pid}/mem bs=1 count=1`,
    'signal the daemon': `kill -0 ${process.pid}`,
    'act as the person': `env -u PAWL_AGENT_TOKEN -u PAWL_AGENT_ID pawl project list`,
    'reach the daemon by its port': connects('127.0.0.1', port),
    'replace the door': `rm -f '${home.door}'/*`,
    'resolve a name': `'${process.execPath}' -e "require('node:dns').lookup('example.com', (error) => process.exit(error ? 1 : 0))" || getent hosts example.com`,
    'reach an address': connects('1.1.1.1', 443),
    'reach an address of IPv6': connects('2606:4700:4700::1111', 443),
    'reach a metadata service': connects('169.254.169.254', 80),
    'mount over the worktree': 'mount -t tmpfs none . || mount --bind /etc . || unshare -rm mount -t tmpfs none .',
    'write to the home': `echo x >'${home.config}' && [ -e '${home.sessions}/../pawl.lock' ]`,
    'take 10 GB of memory': `'${process.execPath}' -e "new ArrayBuffer(10 * 2 ** 30)"`,
    'write a file of 10 GB': 'truncate -s 10G large && [ -s large ]',
    'write a file of 10 GB to /tmp': 'truncate -s 10G /tmp/large && [ -s /tmp/large ]',
    'write a file of 10 GB to memory': 'truncate -s 10G /dev/shm/large && [ -s /dev/shm/large ]',
    'write to the system': 'echo x >/etc/pawl-was-here || echo x >/usr/pawl-was-here',
  };
  expect(await worked(daemon, attempts)).toEqual([]);
  // These may seem to work on an empty directory of the same name.
  const unseen = {
    'write to the checkout': `echo x >'${repository}/evil' && false`,
    'follow a link': `ln -s '${repository}' out && echo x >out/evil && false`,
    'write to another worktree': `mkdir -p '${other.worktree}' && echo x >'${other.worktree}/evil' && false`,
    'delete the checkout': `rm -rf '${repository}' && false`,
  };
  expect(await worked(daemon, unseen)).toEqual([]);
  expect(readdirSync(repository)).toContain('README.md');
  for (const place of [repository, other.worktree ?? '']) expect(existsSync(join(place, 'evil'))).toBe(false);
  expect(existsSync(home.config)).toBe(false);
  expect(existsSync(join(home.door, 'pawl.sock'))).toBe(true);
});

sandboxTest('a fork bomb and a wave of processes with memory stop at the limits [sandbox limits]', async () => {
  const limits = { ...sandbox.limits, processes: 200, memoryBytes: 2 ** 31 };
  await using daemon = await startTestDaemon({ choices: { sandbox: { ...sandbox, limits }, network } });
  const attempts = {
    ...(limited.processes && {
      'start 400 processes':
        'count=0; while [ $count -lt 400 ]; do sleep 5 & count=$((count + 1)); done; [ "$(ls -d /proc/[0-9]* | wc -l)" -gt 300 ]',
    }),
    'take 3 GB in one process': `'${process.execPath}' -e "new ArrayBuffer(3 * 2 ** 30)"; [ $? -eq 0 ]`,
    'leave the control groups':
      'for file in $(find /sys/fs/cgroup -maxdepth 3 -name cgroup.procs); do echo $$ >"$file" && exit 0; done; exit 1',
    'raise the limits': '[ "$(ulimit -Hf)" = unlimited ] || ulimit -f unlimited',
  };
  expect(await worked(daemon, attempts)).toEqual([]);
  // The daemon and its other agents go on.
  expect((await daemon.rested()).run).toMatchObject({ status: 'completed' });
});
