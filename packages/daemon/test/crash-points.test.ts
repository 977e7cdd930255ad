import { processTable } from '@pawl/host/process/process-table';
import { strayProcesses } from '@pawl/host/session/stray';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { crashPoints } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runEnded, writeScenario, viewOf } from './support/daemon.ts';
import type { CrashLife } from './support/crash-life.ts';
import { crashLife } from './support/crash-life.ts';
import type { DaemonProcess } from './support/daemon-process.ts';
import { readyDaemon, spawnDaemon } from './support/daemon-process.ts';
import { outputDifferences, outputHas } from './support/output.ts';

/** Points that are passed at start, before any request. */
const startPoints: readonly CrashPoint[] = ['store.during_migration', 'store.during_backup'];
/** Points that are passed when an agent is stopped. */
const stopPoints: readonly CrashPoint[] = ['stop.after_request', 'stop.after_processes'];
/** Points of a fork that carries files. */
const snapshotPoints: readonly CrashPoint[] = ['snapshot.after_objects', 'snapshot.after_index', 'fork.after_snapshot'];
/** Points of a kill: inside its transaction, after it, and while worktrees are settled. */
const killPoints: readonly CrashPoint[] = [
  'kill.after_agent',
  'kill.after_runs',
  'kill.before_commit',
  'kill.after_commit',
  'cleanup.after_trash',
  'cleanup.after_commit',
];
/** Points that have a test of their own below. */
const otherPoints: readonly CrashPoint[] = [
  'cancel.after_commit',
  'pause.after_request',
  'continue.after_processes',
  'restore.after_files',
  'restart.after_adopt',
];
/** Points that another suite visits, by its file. */
const suites: Record<string, readonly CrashPoint[]> = {
  '../../git/test/worktree/reattach.test.ts': ['reattach.after_record', 'reattach.after_pointer'],
  'projects/moved-project.test.ts': ['move.after_notes'],
  'agents/errands/errand-crash.test.ts': [
    'merge.after_intent',
    'merge.after_ref',
    'merge.after_files',
    'merge.after_end',
  ],
  'mail/mail-crash.test.ts': [
    'mail.after_record',
    'mail.after_claim',
    'mail.after_write',
    'mail.after_wake',
    'mail.after_dead_letter',
  ],
  'mail/files/mirror-crash.test.ts': ['mirror.after_file', 'mirror.after_import'],
  'agents/places/places-crash.test.ts': ['spawn.after_place', 'cleanup.after_place'],
  'supervision/complete-crash.test.ts': ['complete.after_record'],
  'supervision/leaving-crash.test.ts': ['leaving.after_announcement', 'leaving.after_end'],
  'projects/crew-crash.test.ts': ['crew.after_member', 'crew.after_stop', 'detached.after_head'],
  'proxy/proxy-crash.test.ts': ['spawn.after_grant'],
  'approvals/approvals-crash.test.ts': [
    'approval.after_judge',
    'approval.after_answer',
    'approval.after_write',
    'approval.after_send',
  ],
  'plan/plan-crash.test.ts': ['plan.after_initiative', 'plan.after_record', 'plan.before_commit', 'plan.after_undo'],
  'plan/dispatch-crash.test.ts': ['approve.after_version', 'launch.after_record', 'dispatch.after_start'],
  'plan/review-crash.test.ts': [
    'review.after_threads',
    'review.after_revision',
    'land.after_record',
    'land.after_branch',
    'land.after_change',
    'revert.after_branch',
  ],
  'questions/crash.test.ts': ['question.after_ask', 'question.after_answer'],
  'queue/refresh-crash.test.ts': [
    'refresh.after_intent',
    'refresh.after_ref',
    'refresh.after_files',
    'refresh.after_record',
  ],
  'checks/checker-crash.test.ts': [
    'check.after_row',
    'check.after_clone',
    'check.after_process',
    'check.after_exit',
    'check.after_result',
  ],
  'changes/repair/fix-crash.test.ts': ['fix.after_intent', 'fix.after_files', 'fix.after_index', 'fix.after_commit'],
  'plan/planned-landing-crash.test.ts': ['advance.after_ref', 'advance.after_record', 'landing.after_record'],
  'queue/queue-crash.test.ts': [
    'change.after_open',
    'change.after_ask',
    'queue.after_eject',
    'queue.after_pass',
    'advance.after_intent',
    'advance.after_objects',
    'advance.after_push',
    'advance.after_ref',
    'advance.after_record',
    'follow.after_ref',
    'emergency.after_record',
    'emergency.after_fixer',
  ],
};
const visitedElsewhere = [
  ...startPoints,
  ...stopPoints,
  ...snapshotPoints,
  ...killPoints,
  ...otherPoints,
  ...Object.values(suites).flat(),
];
/** All others are passed by an agent on its way from its fork to its end. */
const workPoints = crashPoints.filter((point) => !visitedElsewhere.includes(point));

test.each(Object.entries(suites))('%s visits its points', (file, points) => {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  expect(points.filter((point) => !text.includes(`'${point}'`))).toEqual([]);
});

test.each(sampleOf(startPoints, 1))('a start killed at %s is repaired by the next', async (point) => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  expect((await spawnDaemon(home, { crashAt: point }).exited).signal).toBe('SIGKILL');
  const daemon = await readyDaemon(home);
  try {
    expect((await daemon.client.daemon()).trouble).toBeNull();
    const { events } = await daemon.client.events();
    expect(events.filter((event) => event.type === 'agent.forked')).toHaveLength(1);
    expect(events.filter((event) => event.type === 'store.restored')).toEqual([]);
  } finally {
    await daemon.kill('SIGTERM');
  }
  expect(readdirSync(join(home, 'backups')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

/** One home whose daemons are killed one after the other: what one point leaves must not break the next either. */
let life: CrashLife;
beforeAll(async () => {
  life = await crashLife();
});
afterAll(() => life[Symbol.asyncDispose]());

test.each(sampleOf(workPoints, 4))(
  'an agent whose daemon is killed at %s runs once, and to the end [S3-24, 5.2.7]',
  async (point) => {
    const { path, repository } = life;
    const marker = join(path, `ran-${randomUUID()}`);
    const scenario = await writeScenario(path, [
      { shell: `echo ran >> '${marker}'` },
      { flood: { lines: 500 } },
      { write: { path: 'a.txt', content: 'a' } },
      { commit: 'a' },
      'complete',
    ]);
    const request = { path: repository, task: 'a task', provider: 'scripted', options: { scenario } };
    const key = randomUUID();

    const first = await life.armed(point);
    const before = await placesIn(repository);
    const { agents } = await first.client.listAgents();
    await first.client.work(request, key).catch(() => null);

    const second = await life.next();
    const { agent } = await second.client.work(request, key);
    expect((await runEnded(second.client, agent.id)).run?.status).toBe('completed');
    expect((await second.client.listAgents()).agents).toHaveLength(agents.length + 1);
    expect(await leftBehind(second, agent.id)).toEqual({ sessions: 1, processes: 0, differences: [] });
    expect(readFileSync(marker, 'utf8')).toBe('ran\n');
    const after = await placesIn(repository);
    expect(after.branches.toSorted()).toEqual([...before.branches, `work/${agent.alias}`].toSorted());
    expect(after.worktrees).toBe(before.worktrees + 1);
    const { events } = await second.client.events({ agent: agent.id });
    for (const type of ['agent.forked', 'worktree.created', 'session.started', 'session.ended', 'run.ended']) {
      expect(events.filter((event) => event.type === type)).toHaveLength(1);
    }
  },
);

/** The branches and worktrees of a repository. */
async function placesIn(repository: string) {
  const branches = await git(repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
  const worktrees = (await git(repository, ['worktree', 'list', '--porcelain'])).match(/^worktree /gm) ?? [];
  return { branches: branches.split('\n'), worktrees: worktrees.length };
}

test.each(sampleOf(stopPoints, 1))('a stop killed at %s is completed by the next daemon', async (point) => {
  const { first, agent } = await begun(point, [{ say: 'standing by' }, 'hang']);
  await outputHas(first.client, agent.id, 'standing by');
  await first.client.stopAgent(agent.id).catch(() => null);
  const second = await life.next();
  expect((await runEnded(second.client, agent.id)).run?.status).toBe('cancelled');
  expect(await leftBehind(second, agent.id)).toEqual({ sessions: 1, processes: 0, differences: [] });
});

test.each(sampleOf(snapshotPoints, 1))('a fork with files killed at %s is complete, or absent [8.1]', async (point) => {
  const { first, agent } = await begun(point, [
    { write: { path: 'staged.txt', content: 'staged' } },
    { shell: 'git add staged.txt; echo new > untracked.txt; echo more >> README.md' },
    'complete',
  ]);
  await runEnded(first.client, agent.id);
  const { agents } = await first.client.listAgents();
  const key = randomUUID();
  await first.client.fork(agent.id, { withFiles: true }, key).catch(() => null);
  const second = await life.next();
  // Before its transaction there is no child, and nothing of it is left; afterwards it is started.
  const known = (await second.client.listAgents()).agents.map(({ id }) => id);
  expect(known).toHaveLength(agents.length + (point === 'snapshot.after_index' ? 1 : 0));
  if (known.length === agents.length) expect(snapshotsIn(life.home)).toEqual([]);
  const { agent: child } = await second.client.fork(agent.id, { withFiles: true }, key);
  await waitUntil(async () => typeof (await second.client.inspectAgent(child.id)).worktree?.head === 'string', {
    what: 'files',
  });
  const status = ['status', '--porcelain', '-uall'];
  await waitUntil(async () => (await git(child.worktree ?? '', status)) === (await git(agent.worktree ?? '', status)), {
    what: 'the same files',
  });
  await waitUntil(() => snapshotsIn(life.home).length === 0, { what: 'the snapshot to be dropped' });
});

test.each(sampleOf(killPoints, 2))(
  'a cascade killed at %s happened completely or not at all, and is completed [W1-12]',
  async (point) => {
    const { first, agent } = await begun(point, [{ say: 'standing by' }, 'hang']);
    await outputHas(first.client, agent.id, 'standing by');
    const children = [];
    for (let number = 0; number < 3; number++) {
      children.push((await first.client.fork(agent.id, { switch: false }, randomUUID())).agent);
    }
    const family = [agent, ...children];
    // Complete, not half checked out: an incomplete one would be kept.
    for (const { id, alias } of children) {
      const made = async () =>
        (await first.client.events({ agent: id })).events.some(({ type }) => type === 'worktree.created');
      await waitUntil(made, { what: `the worktree of ${alias}` });
    }
    await first.client.killAgent(agent.id, { cascade: true }).catch(() => null);
    // Points after the response are passed soon after it.
    const second = await life.next();
    const statuses = async () => Promise.all(family.map(async ({ id }) => (await viewOf(second.client, id)).status));
    const before = await statuses();
    expect(new Set(before).size).toBe(1);
    const undone = ['kill.after_agent', 'kill.after_runs', 'kill.before_commit'].includes(point);
    expect(before[0]).toBe(undone ? 'running' : 'dead');
    const { killed } = await second.client.killAgent(agent.id, { cascade: true });
    expect(killed).toHaveLength(undone ? family.length : 0);
    await waitUntil(
      async () => {
        const views = await Promise.all(
          family.map(async ({ id }) => second.client.inspectAgent(id, { worktree: false })),
        );
        return views.every(
          (view) => view.agent.worktreeEnd !== null && view.sessions.every(({ endedAt }) => endedAt !== null),
        );
      },
      { what: 'all worktrees to be settled' },
    );
    expect((await leftBehind(second, agent.id)).processes).toBe(0);
    const { events } = await second.client.events({ agent: agent.id });
    expect(events.filter(({ type }) => type === 'agent.killed').map(({ data }) => data['count'])).toEqual([4]);
    const { worktrees } = await second.client.worktrees();
    for (const { worktree } of family) {
      expect(worktrees.filter(({ path, state }) => path === worktree && state === 'trashed')).toHaveLength(1);
    }
  },
);

test('a cancel killed after its commit ends the processes on restart', async () => {
  const { first, agent } = await begun('cancel.after_commit', [{ say: 'standing by' }, 'hang']);
  await outputHas(first.client, agent.id, 'standing by');
  await first.client.cancelRun(agent.id).catch(() => null);
  const second = await life.next();
  await waitUntil(async () => (await leftBehind(second, agent.id)).processes === 0, {
    what: 'its processes to leave',
  });
  expect(await viewOf(second.client, agent.id)).toMatchObject({ activity: 'idle', status: 'running' });
});

test.each(sampleOf(['pause.after_request', 'continue.after_processes'] as const, 1))(
  'an agent whose daemon is killed at %s is paused if it is recorded as paused',
  async (point) => {
    const { first, agent } = await begun(point, [{ say: 'standing by' }, 'hang']);
    await outputHas(first.client, agent.id, 'standing by');
    await first.client.signalAgent(agent.id, 'pause').catch(() => null);
    if (point !== 'pause.after_request') await first.client.signalAgent(agent.id, 'continue').catch(() => null);
    const second = await life.next();
    const { agent: view, sessions } = await second.client.inspectAgent(agent.id);
    expect(view.paused).toBe(true);
    const halted = () =>
      strayProcesses(sessions[0]?.id ?? '').some(({ pid }) => processTable.read(pid)?.stopped === true);
    expect(halted()).toBe(true);
    await second.client.signalAgent(agent.id, 'continue');
    expect(halted()).toBe(false);
    await second.client.stopAgent(agent.id);
  },
);

test('a restore from the trash that is killed in the middle is completed by the next', async () => {
  const { first, agent } = await begun('restore.after_files', ['complete']);
  await runEnded(first.client, agent.id);
  await first.client.killAgent(agent.id, {});
  const entry = await waitUntil(
    async () => (await first.client.worktrees()).worktrees.find(({ path }) => path === agent.worktree)?.entry,
    { what: 'the worktree in the trash' },
  );
  await first.client.restoreWorktree(entry).catch(() => null);
  const second = await life.next();
  expect((await second.client.restoreWorktree(entry)).path).toBe(agent.worktree);
  expect(await git(agent.worktree ?? '', ['status', '--porcelain'])).toBe('');
});

test('a restart killed after adoption is repaired by the next [S1-18]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  const first = await readyDaemon(home);
  await first.client.addProject({ path: repository });
  const options = { scenario: await writeScenario(place.path, [{ say: 'standing by' }, 'hang']) };
  const request = { path: repository, task: 'a task', provider: 'scripted', options };
  const { agent } = await first.client.work(request, randomUUID());
  await outputHas(first.client, agent.id, 'standing by');
  await first.client.fork(agent.id, { switch: false }, randomUUID());
  await first.kill();
  expect((await spawnDaemon(home, { crashAt: 'restart.after_adopt' }).exited).signal).toBe('SIGKILL');
  const third = await readyDaemon(home);
  try {
    expect(await viewOf(third.client, agent.id)).toMatchObject({
      activity: 'running',
      session: { no: 1 },
    });
    await third.client.stopAgent(agent.id);
    expect(await leftBehind(third, agent.id)).toEqual({ sessions: 1, processes: 0, differences: [] });
    expect((await third.client.listAgents()).agents).toHaveLength(2);
  } finally {
    await third.kill('SIGTERM');
  }
});

/** A daemon that will be killed at a point, with an agent that plays some steps. */
async function begun(point: CrashPoint, steps: unknown[]) {
  const first = await life.armed(point);
  const options = { scenario: await writeScenario(life.path, steps) };
  const request = { path: life.repository, task: 'a task', provider: 'scripted', options };
  const { agent } = await first.client.work(request, randomUUID());
  return { first, agent };
}

/** The snapshots of files that are kept in Pawl's own git directories. */
function snapshotsIn(home: string): string[] {
  const repositories = join(home, 'repositories');
  return readdirSync(repositories).flatMap((name) => {
    const directory = join(repositories, name, 'pawl-snapshots');
    return existsSync(directory) ? readdirSync(directory) : [];
  });
}

async function leftBehind({ client }: DaemonProcess, agentId: string) {
  const { sessions } = await client.inspectAgent(agentId);
  return {
    sessions: sessions.length,
    processes: sessions.flatMap((session) => strayProcesses(session.id)).length,
    differences: await outputDifferences(client, agentId),
  };
}
