import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Check } from '@pawl/schema/change';
import { canGroup, groupBase, groupFor } from '@pawl/host/session/control-group';
import type { CheckBounds } from '@pawl/daemon/checks/check-limit';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { git } from '@pawl/testing/sample-repository';
import { patienceMs, waitUntil } from '@pawl/testing/wait-until';
import { programs } from '@pawl/protocol/node/programs';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CheckHomeOptions } from '../support/check-home.ts';
import { checksOf, openCheckHome } from '../support/check-home.ts';

/** A place for one test, with a checker in it. */
async function setUp(options: CheckHomeOptions & { bounds?: Partial<CheckBounds> } = {}) {
  const place = await temporaryDirectory();
  const platform = await openCheckHome(place.path, options);
  const checker = platform.checker({ livenessMs: 100, ...options.bounds });
  return {
    ...platform,
    place: place.path,
    checker,
    /** Runs commands as a check to its end. */
    async run(config: ProjectConfig): Promise<Check> {
      return platform.result((await platform.start(checker, config)).id);
    },
    text: async (check: Check) => (await platform.output(check.id)).toString('utf8'),
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

test('a check runs the commands of a project in order, at one commit, in its own clone', async () => {
  await using setup = await setUp({ files: { 'a.txt': 'first\n' } });
  const old = await git(setup.root, ['rev-parse', 'main']);
  await writeFile(join(setup.root, 'a.txt'), 'second\n');
  await git(setup.root, ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid', 'commit', '-qam', 'second']);
  const steps = [
    'cat a.txt; git rev-parse HEAD',
    'echo "CI=$CI"; echo error >&2',
    'echo "=== 3 passed, 1 skipped in 0.10s ==="',
  ];
  const started = await setup.start(setup.checker, checksOf(steps), old);
  expect(started).toMatchObject({ commit: old, endedAt: null, outcome: null, plan: JSON.stringify(steps) });
  const check = await setup.result(started.id);
  expect(check).toMatchObject({
    outcome: 'passed',
    exitCode: 0,
    step: 2,
    detail: 'passed',
    counts: { run: 3, failed: 0, skipped: 1 },
  });
  expect(check.startedAt).toBeGreaterThanOrEqual(check.plannedAt);
  expect(await setup.text(check)).toBe(`first\n${old}\nCI=true\nerror\n=== 3 passed, 1 skipped in 0.10s ===\n`);
  expect(setup.ended).toHaveLength(1);
  expect(setup.ended[0]).toMatchObject({
    id: check.id,
    outcome: 'passed',
    outputOffset: check.outputOffset,
    outputBytes: check.outputBytes,
  });
  expect(await setup.events('check.started')).toMatchObject([{ data: { checkId: check.id, commit: old } }]);
  const ended = { checkId: check.id, outcome: 'passed', flaky: false, counts: { run: 3, skipped: 1 } };
  expect(await setup.events('check.ended')).toMatchObject([{ projectId: setup.project.id, data: ended }]);
  expect(await setup.directories()).toEqual([]);
});

const lost = 'its process was lost: it is gone and has left no exit code';

const failures: [what: string, steps: string[], detail: string, exitCode: number | null][] = [
  ['ends with another code than 0', ['echo no; exit 3'], 'exit code 3', 3],
  ['prints nothing', ['true', ':'], 'printed nothing', 0],
  ['has a command that does not exist', ['no-such-command-here'], 'exit code 127: a command was not found', 127],
  ['is not a command', ['if then'], 'exit code 2', 2],
  ['kills itself', ['echo a; kill -9 $$'], 'killed by SIGKILL (exit code 137)', 137],
  ['fails in its second step', ['echo fine', 'echo bad; exit 1'], 'step 2: exit code 1', 1],
  ['fails before its last line', ['echo a\nfalse\necho b'], 'exit code 1', 1],
  ['deletes its own clone', ['echo a; rm -rf "$PWD"'], 'the clone is gone: the check has deleted it', 0],
  ['deletes what is in its clone', ['echo a; rm -rf .git *'], 'the clone is gone: the check has deleted it', 0],
];

test.each(failures)('a check that %s has failed', async (_what, steps, detail, exitCode) => {
  await using setup = await setUp();
  expect(await setup.run(checksOf(steps))).toMatchObject({ outcome: 'failed', detail, exitCode });
  expect(setup.ended).toHaveLength(1);
});

test('a check that deletes everything known about it has failed', async () => {
  await using setup = await setUp();
  const { outcome, detail } = await setup.run(checksOf(['echo a; cd /; rm -rf "${TMPDIR%/tmp}"']));
  expect(outcome).toBe('failed');
  // A file written meanwhile makes `rm` fail, or keeps the exit code; on a busy machine it is gone before its start is seen.
  const details = [lost, 'exit code 1', 'the clone is gone: the check has deleted it', 'it could not be started'];
  expect(details).toContain(detail?.replace(/^(it could not be started): .*/s, '$1'));
  expect(setup.ended).toHaveLength(1);
});

test('a check whose clone cannot be created has failed, with the reason', async () => {
  await using setup = await setUp();
  const missing = '0123456789012345678901234567890123456789';
  const repository = [...setup.platform.repositories.values()][0];
  if (repository === undefined) throw new Error('no repository');
  const { project } = setup;
  const request = { project, repository, tree: missing, onto: missing, changes: [], config: checksOf(['echo a']) };
  const { id } = await setup.checker.start({ ...request, commit: missing });
  const check = await setup.result(id);
  expect(check).toMatchObject({ outcome: 'failed', exitCode: null, startedAt: null });
  expect(check.detail).toMatch(/^its clone could not be created: .*0123456789/);
});

test('a full disk during the clone fails the check, with the reason', async (context) => {
  await using setup = await setUp({ files: { 'big.bin': 'x'.repeat(4 * 1024 * 1024) } });
  const { checks } = setup.platform.home;
  await mkdir(checks);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', checks]);
  if (status !== 0) context.skip('tmpfs cannot be mounted here');
  try {
    const check = await setup.run(checksOf(['echo a']));
    expect(check).toMatchObject({ outcome: 'failed', exitCode: null });
    expect(check.detail).toMatch(/^its clone could not be created: .* \(the disk has \d MB left\)$/);
    expect(await setup.directories()).toEqual([]);
  } finally {
    spawnSync('umount', ['-l', checks]);
  }
});

test('a check that hangs is ended at its timeout with all its processes, even those that ignore TERM', async () => {
  await using setup = await setUp({ bounds: { graceMs: 50 } });
  const stubborn = `trap '' TERM; echo begun; (setsid sh -c 'trap "" TERM; sleep 60' &) ; while :; do sleep 0.05; done`;
  const check = await setup.run(checksOf([{ run: stubborn, timeoutMs: 5_000 }, 'echo never']));
  expect(check).toMatchObject({ outcome: 'failed', detail: 'step 1: ended after 5 s' });
  // A shell that outlives its child for a moment may report the signal.
  expect(await setup.text(check)).toMatch(/^begun\n(?:Killed\n)?$/);
  expect(setup.left(check.id)).toBe(0);
});

test('a check that exits with 0 when it is stopped has not passed', async () => {
  await using setup = await setUp({ bounds: { graceMs: patienceMs } });
  const polite = `trap 'echo bye; exit 0' TERM; echo begun; while :; do sleep 0.02; done`;
  const check = await setup.run(checksOf([{ run: polite, timeoutMs: 5_000 }]));
  expect(check).toMatchObject({ outcome: 'failed', detail: 'ended after 5 s', exitCode: 0 });
  expect(await setup.text(check)).toContain('bye\n');
});

test('a process that a step leaves behind is ended before the next step, and does not delay the check', async () => {
  await using setup = await setUp({ bounds: { graceMs: 50 } });
  const daemon = `(setsid sh -c 'trap "" TERM; echo $$ >daemon; sleep 60' >/dev/null 2>&1 &); until [ -s daemon ]; do :; done; echo up`;
  const gone = `case $(ps -o stat= -p $(cat daemon)) in '' | Z*) echo gone ;; *) exit 1 ;; esac`;
  const check = await setup.run(checksOf([daemon, gone]));
  expect(check).toMatchObject({ outcome: 'passed' });
  expect(setup.left(check.id)).toBe(0);
});

test('a check with endless output is ended; the start and the end of it are kept', async () => {
  const bounds = { printBytes: 4 * 1024 * 1024, storedBytes: 64 * 1024, endBytes: 8 * 1024 };
  await using setup = await setUp({ bounds });
  const check = await setup.run(checksOf(['echo first; yes 0123456789']));
  expect(check).toMatchObject({ outcome: 'failed', detail: 'ended: it printed more than 4 MB' });
  const text = await setup.text(check);
  expect(text.length).toBe(check.outputBytes);
  expect(text.length).toBeLessThan(64 * 1024 + 8 * 1024 + 100);
  expect(text.startsWith('first\n0123456789\n')).toBe(true);
  const [, left = ''] = /\n\[pawl: (\d+) bytes are left out here\]\n0123456789\n/.exec(text) ?? [];
  expect(Number(left)).toBeGreaterThan(3 * 1024 * 1024);
});

test('tests are counted in all output, even what is not stored', async () => {
  await using setup = await setUp({ bounds: { storedBytes: 1024, endBytes: 1024 } });
  const noise = `i=0; while [ $i -lt 500 ]; do echo "noise $i"; i=$((i+1)); done`;
  const check = await setup.run(checksOf([`${noise}; echo "=== 7 passed in 0.10s ==="; ${noise}`]));
  expect(check).toMatchObject({ outcome: 'passed', counts: { run: 7, failed: 0, skipped: 0 } });
  expect(await setup.text(check)).not.toContain('passed');
});

test('output is stored byte for byte: NUL, invalid UTF-8, escapes, a last line without a newline', async () => {
  await using setup = await setUp();
  const check = await setup.run(checksOf([String.raw`printf 'a\000b\377\376\033[31mred\r\nend'`]));
  const bytes = Buffer.from([0x61, 0, 0x62, 0xff, 0xfe, 0x1b, ...Buffer.from('[31mred\r\nend')]);
  expect(await setup.output(check.id)).toEqual(bytes);
  expect(check).toMatchObject({ outcome: 'passed', outputOffset: bytes.length, outputBytes: bytes.length });
});

test('a script that opens /dev/stdout by name truncates its output, which is noted', async () => {
  await using setup = await setUp({ bounds: { pollMs: 20 } });
  const check = await setup.start(
    setup.checker,
    checksOf(['echo long enough; until [ -e go ]; do sleep 0.01; done; echo b >/dev/stdout']),
  );
  await waitUntil(async () => (await setup.output(check.id)).length > 0, { what: 'the first words' });
  await writeFile(join(setup.platform.home.checks, check.id, 'tree', 'go'), '');
  expect(await setup.result(check.id)).toMatchObject({ outcome: 'passed' });
  expect(await setup.text(check)).toBe('long enough\n\n[pawl: the output was truncated here]\nb\n');
});

test('a key of an account that a check prints is masked in its output, even with escapes inside [8.49]', async () => {
  const key = 'sk-marked-0123456789';
  const files = { 'leak.txt': `${key}\n${key.slice(0, 9)}\u001B[0m${key.slice(9)}\n` };
  await using setup = await setUp({ files, secrets: [key] });
  const check = await setup.run(checksOf(['cat leak.txt']));
  expect(await setup.text(check)).toBe(`${'*'.repeat(key.length)}\n${'*'.repeat(key.length + 4)}\n`);
});

test('the environment of a check is an allow list, and variables named by the project are masked in its output', async () => {
  const environment = {
    ANTHROPIC_API_KEY: 'sk-marked-secret',
    PAWL_AGENT_TOKEN: 'marked-token-secret',
    GITHUB_TOKEN: 'ghp-marked-secret',
    DEPLOY_KEY: 'named-marked-secret',
    NODE_ENV: 'test',
    GIT_DIR: '/marked-secret',
    LC_ALL: 'C',
  };
  await using setup = await setUp({ environment });
  const names = ['DEPLOY_KEY', 'NODE_ENV', 'PAWL_AGENT_TOKEN', 'not a name', 'MISSING'];
  const check = await setup.run(checksOf(['env; test "$DEPLOY_KEY" = named-marked-secret; pwd'], names));
  expect(check.outcome).toBe('passed');
  const text = await setup.text(check);
  expect(text).not.toContain('marked');
  const dir = join(setup.platform.home.checks, check.id);
  for (const line of [
    'NODE_ENV=test',
    'LC_ALL=C',
    'CI=true',
    'GIT_TERMINAL_PROMPT=0',
    'PAWL_HOME=/dev/null/pawl-is-not-for-checks',
    `TMPDIR=${dir}/tmp`,
    `${dir}/tree`,
  ])
    expect(text.split('\n')).toContain(line);
  const usual = [
    'PATH',
    'HOME',
    'LC_ALL',
    'CI',
    'TMPDIR',
    'PAWL_HOME',
    'GIT_TERMINAL_PROMPT',
    'GIT_CEILING_DIRECTORIES',
    'GIT_CONFIG_COUNT',
    'GIT_CONFIG_KEY_0',
    'GIT_CONFIG_VALUE_0',
    'PWD',
    '_',
  ];
  const printed = text.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
  expect(printed.toSorted()).toEqual(expect.arrayContaining(['DEPLOY_KEY', 'PAWL_SESSION']));
  expect(printed.filter((name) => !usual.includes(name)).toSorted()).toEqual([
    'DEPLOY_KEY',
    'NODE_ENV',
    'PAWL_SESSION',
  ]);
});

test('pawl in a check cannot act as the person on a daemon, and starts none', async () => {
  await using home = await temporaryDirectory();
  await using setup = await setUp({ environment: { HOME: home.path } });
  const pawl = `'${process.execPath}' '${programs.pawl}'`;
  const commands = ['change approve abc', 'up'];
  const run = commands.map((words) => `if ${pawl} ${words}; then exit 1; fi`).join('\n');
  const check = await setup.run(checksOf([run]));
  expect(check).toMatchObject({ outcome: 'passed' });
  const text = await setup.text(check);
  expect(text).toContain('pawl-is-not-for-checks');
  expect(text.match(/^error: /gm)).toHaveLength(commands.length);
  expect(await readdir(home.path)).toEqual([]);
});

test('a cancelled check is not evidence, and leaves nothing behind', async () => {
  await using setup = await setUp();
  const hanging = `trap 'exit 0' TERM; echo begun; while :; do sleep 0.02; done`;
  const running = await setup.start(setup.checker, checksOf([hanging]));
  await waitUntil(() => existsSync(join(setup.platform.home.checks, running.id, 'step-0', 'pid')), {
    what: 'the process',
  });
  await setup.checker.cancel(running.id, 'a shorter chain failed');
  await waitUntil(() => setup.ended.length > 0, { what: 'the event of its end' });
  const [check] = setup.ended;
  expect(check).toMatchObject({ id: running.id, outcome: 'cancelled', detail: 'a shorter chain failed' });
  expect(setup.left(running.id)).toBe(0);
  expect(await setup.directories()).toEqual([]);
  const cloning = await setup.start(setup.checker, checksOf([hanging]));
  await setup.checker.cancel(cloning.id, 'no longer needed');
  expect(await setup.result(cloning.id)).toMatchObject({ outcome: 'cancelled', pid: null });
  await setup.checker.cancel(cloning.id, 'again');
  await setup.checker.cancel('AAAAAAAAAAAAAAAAAAAAAA', 'unknown');
  expect(await setup.events('check.ended')).toHaveLength(2);
});

test('a check that passes after failing at the same tree, with the same commands, is flaky', async () => {
  await using setup = await setUp();
  const sometimes = checksOf([`echo x; test -e '${setup.place}/passes'`]);
  await setup.run(sometimes);
  await writeFile(join(setup.place, 'passes'), '');
  await setup.run(checksOf(['echo other commands']));
  await setup.run(sometimes);
  const ended = await setup.events('check.ended');
  expect(ended.map(({ data }) => [data['outcome'], data['flaky']])).toEqual([
    ['failed', false],
    ['passed', false],
    ['passed', true],
  ]);
});

const report = (tests: number) =>
  `<testsuite>${Array.from({ length: tests }, (_, no) => `<testcase name="${no}"/>`).join('')}</testsuite>`;

test('tests are counted in the JUnit files that a step left below its clone, and in no others', async () => {
  await using setup = await setUp({ files: { 'reports/old.xml': report(100), 'fresh.xml': report(2) } });
  await writeFile(join(setup.place, 'outside.xml'), report(50));
  const junit = ['reports/**/*.xml', '../../../*.xml', 'linked/*.xml', '/**/outside.xml', '{a,b}.xml'];
  const writing = `mkdir reports/new; cat fresh.xml >reports/new/r.xml; ln -s '${setup.place}' linked; echo "=== 9 passed in 0.10s ==="`;
  const plain = `echo "=== 5 passed in 0.10s ==="`;
  const check = await setup.run(
    checksOf([
      { run: writing, junit },
      { run: plain, junit: ['none/*.xml'] },
    ]),
  );
  expect(check).toMatchObject({ outcome: 'passed', counts: { run: 7, failed: 0, skipped: 0 } });
});

test('changes that a check makes to git in its clone affect neither its result nor the next one', async () => {
  await using setup = await setUp({ files: { 'a.txt': 'right\n' } });
  const before = await git(setup.root, ['for-each-ref']);
  const tamper = `cat a.txt
git config --local core.hooksPath /tmp; git config user.name a; git config user.email a@b.invalid
echo wrong >a.txt; git commit -qam wrong
git update-ref refs/heads/main HEAD; git branch -f evil
own=$(head -1 .git/objects/info/alternates | tr -d '"'); own=\${own%/objects}
mkdir -p "$own/refs/heads"; git rev-parse HEAD >"$own/refs/heads/main"; git rev-parse HEAD >"$own/HEAD"
rm -f .git/index`;
  const first = await setup.run(checksOf([tamper]));
  expect(await setup.text(first)).toBe('right\n');
  expect(first.outcome).toBe('passed');
  const second = await setup.run(checksOf(['cat a.txt; git rev-parse HEAD']));
  expect(second).toMatchObject({ outcome: 'passed', commit: first.commit });
  expect(await setup.text(second)).toBe(`right\n${first.commit}\n`);
  expect(await git(setup.root, ['for-each-ref'])).toBe(before);
  expect(await readFile(join(setup.root, 'a.txt'), 'utf8')).toBe('right\n');
});

test.runIf(await canGroup())(
  'a process that a check leaves behind without environment, parents and output is ended',
  async () => {
    await using setup = await setUp();
    const left = join(setup.place, 'left');
    const leave = `env -i setsid /bin/sh -c 'echo $$ >${left}.new; /bin/mv ${left}.new ${left}; exec /bin/sleep 600'`;
    const check = await setup.run(
      checksOf([`(${leave} </dev/null >/dev/null 2>&1 &)\nwhile [ ! -e ${left} ]; do sleep 0.02; done; echo checked`]),
    );
    expect(check.outcome).toBe('passed');
    const pid = Number(await readFile(left, 'utf8'));
    expect(existsSync(`/proc/${pid}/fd/0`)).toBe(false);
    expect(existsSync(groupFor(groupBase() ?? '', check.id))).toBe(false);
  },
);
