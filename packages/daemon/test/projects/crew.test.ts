import { programs } from '@pawl/protocol/node/programs';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { CrewView } from '@pawl/protocol/projects/view';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { cleanedUp } from '../support/complete.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf, writeScenario } from '../support/daemon.ts';

/** A daemon whose crew plays these steps: one `say` per turn, without a signal. */
async function crewDaemon(steps: unknown[], clock?: { now: number }) {
  const place = await temporaryDirectory();
  const scenario = await writeScenario(place.path, steps);
  const stream = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--replay-user-messages'];
  const command = [process.execPath, ...programs.scriptedAgent, ...stream, '--scenario', scenario];
  const daemon = await startTestDaemon({
    providers: { calm: { extends: 'scripted', command } },
    ...(clock === undefined ? {} : { clock: () => clock.now }),
  });
  const start = () => daemon.client.startCrew({ path: daemon.repository, provider: 'calm' });
  return {
    daemon,
    start,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

const someone = ['-c', 'user.name=Someone', '-c', 'user.email=someone@example.invalid'];
const reply = [{ say: 'I have read: {prompt}' }, 'wait'];
const turns = (count: number) => Array.from({ length: count }, () => reply).flat();

function member({ members }: CrewView, role: string): AgentView {
  const agent = members.find((each) => each.role === role)?.agent ?? null;
  if (agent === null) throw new Error(`the crew has no ${role}`);
  return agent;
}

async function worktreesReady(daemon: TestDaemon, crew: CrewView): Promise<void> {
  for (const { agent } of crew.members) {
    const isMade = async () =>
      (await daemon.client.events({ agent: agent?.id ?? '', limit: 100 })).events.some(
        ({ type }) => type === 'worktree.created',
      );
    await waitUntil(isMade, { what: `${agent?.alias}’s worktree` });
  }
}

/** Waits until an agent has had this many runs, and the last has ended. */
async function turnEnded(daemon: TestDaemon, agentId: string, count: number) {
  await waitUntil(
    async () => {
      const { runs } = await daemon.client.inspectAgent(agentId, { worktree: false });
      return runs.length === count && runs.every(({ outcome }) => outcome !== null);
    },
    { what: `${count} turns of ${agentId}` },
  );
  return daemon.client.inspectAgent(agentId, { worktree: false });
}

describe('a crew', () => {
  test('is three idle agents, without a run, a session or a token, for ten minutes and a day [S4-03, S4-05, S4-11, 7.21]', async () => {
    const clock = { now: Date.now() };
    await using place = await crewDaemon(turns(1), clock);
    const { daemon } = place;
    const crew = await place.start();
    expect(crew.wanted).toBe(true);
    expect(crew.members.map(({ role, agent }) => [role, agent?.alias, agent?.class, agent?.branch])).toEqual([
      ['merge-queue', 'merge-queue', 'persistent', null],
      ['supervisor', 'supervisor', 'persistent', null],
      ['workspace', 'workspace', 'persistent', 'workspace/sample'],
    ]);
    await worktreesReady(daemon, crew);
    const before = (await daemon.client.daemon()).lastSeq;
    for (const minutes of [...Array.from({ length: 10 }, () => 1), 60, 300, 1_080]) {
      clock.now += minutes * 60_000;
      await daemon.loops.health();
      await daemon.loops.nudges();
    }
    for (const { agent } of (await daemon.client.crew({ path: daemon.repository })).members) {
      const { sessions, runs, agent: view } = await daemon.client.inspectAgent(agent?.id ?? '', { worktree: false });
      expect([sessions, runs]).toEqual([[], []]);
      expect(view).toMatchObject({ status: 'running', activity: 'idle', run: null });
      expect(view.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    }
    const since = (await daemon.client.events({ after: before, limit: 1000 })).events.map(({ type }) => type);
    expect(since.filter((type) => !type.startsWith('nudge.skipped'))).toEqual([]);
  });

  test('is started once: a second request, or the health check, starts no second one', async () => {
    await using place = await crewDaemon(turns(1));
    const [first, second] = await Promise.all([place.start(), place.start()]);
    expect(second.members.map(({ agent }) => agent?.id)).toEqual(first.members.map(({ agent }) => agent?.id));
    await place.daemon.loops.health();
    expect((await place.daemon.client.listAgents()).agents).toHaveLength(3);
  });

  test('with an unknown provider is refused, and nothing is started or recorded', async () => {
    await using place = await crewDaemon(turns(1));
    const { client, repository } = place.daemon;
    await expect(client.startCrew({ path: repository, provider: 'no-such' })).rejects.toMatchObject({
      message: expect.stringContaining('no-such') as string,
    });
    await place.daemon.loops.health();
    expect(await client.crew({ path: repository })).toMatchObject({ wanted: false });
    expect((await client.listAgents()).agents).toEqual([]);
  });

  test('of a second project has the project in its names', async () => {
    await using place = await crewDaemon(turns(1));
    await place.start();
    await using other = await temporaryDirectory();
    const repository = join(other.path, 'shop');
    await sampleRepository(repository);
    const { client } = place.daemon;
    await client.addProject({ path: repository });
    const crew = await client.startCrew({ path: repository, provider: 'calm' });
    expect(crew.members.map(({ agent }) => agent?.alias)).toEqual([
      'merge-queue-shop',
      'supervisor-shop',
      'workspace-shop',
    ]);
  });
});

describe('a turn of the crew', () => {
  test('starts with mail, and ends with the provider’s result: no signal is required, and it is idle again [7.4, 7.12]', async () => {
    await using place = await crewDaemon(turns(2));
    const { daemon } = place;
    const supervisor = member(await place.start(), 'supervisor');
    const worker = await daemon.work([{ say: 'hello' }, 'wait']);
    await agentClient(daemon.home, worker.id).sendMail({ to: 'supervisor', body: 'I am stuck' }, randomUUID());
    const { sessions, runs, agent } = await turnEnded(daemon, supervisor.id, 1);
    expect(sessions.map(({ purpose }) => purpose)).toEqual(['work']);
    expect(runs[0]).toMatchObject({ outcome: 'completed' });
    expect(agent).toMatchObject({ activity: 'idle', status: 'running' });
    expect(await daemon.promptOf(sessions[0]?.directory ?? '')).toContain('I am stuck');
    expect(existsSync(join(`${supervisor.worktree}`, '.pawl', 'input'))).toBe(false);
  });

  test('finds its checkout at main, which has moved since; uncommitted files keep it in place [S4-03]', async () => {
    await using place = await crewDaemon(turns(3));
    const { daemon } = place;
    const crew = await place.start();
    const supervisor = member(crew, 'supervisor');
    await worktreesReady(daemon, crew);
    const path = `${supervisor.worktree}`;
    expect(await git(path, ['rev-parse', '--abbrev-ref', 'HEAD'])).toBe('HEAD');
    await git(daemon.repository, [...someone, 'commit', '-q', '--allow-empty', '-m', 'one']);
    await daemon.client.sendMail({ to: supervisor.id, body: 'look' }, randomUUID());
    await turnEnded(daemon, supervisor.id, 1);
    const main = await git(daemon.repository, ['rev-parse', 'HEAD']);
    expect(await git(path, ['rev-parse', 'HEAD'])).toBe(main);
    expect((await viewOf(daemon.client, supervisor.id)).baseCommit).toBe(main);
    await git(path, ['mv', 'README.md', 'other.md']);
    await git(daemon.repository, [...someone, 'commit', '-q', '--allow-empty', '-m', 'two']);
    await daemon.client.sendMail({ to: supervisor.id, body: 'look again' }, randomUUID());
    await turnEnded(daemon, supervisor.id, 2);
    expect(await git(path, ['rev-parse', 'HEAD'])).toBe(main);
    expect(existsSync(join(path, 'other.md'))).toBe(true);
  });

  test('of the workspace is a person’s message, continues the conversation, and other agents’ mail waits [S4-12]', async () => {
    await using place = await crewDaemon(turns(3));
    const { daemon } = place;
    const workspace = member(await place.start(), 'workspace');
    const worker = await daemon.work([{ say: 'hello' }, 'wait']);
    await agentClient(daemon.home, worker.id).sendMail({ to: 'workspace', body: 'the build is slow' }, randomUUID());
    await daemon.client.sendMail({ to: 'workspace', body: 'Why is the login slow?' }, randomUUID());
    const first = await turnEnded(daemon, workspace.id, 1);
    expect(first.runs[0]?.task).toBe('Why is the login slow?');
    const prompt = await daemon.promptOf(first.sessions[0]?.directory ?? '');
    expect(prompt.split('Why is the login slow?')).toHaveLength(2);
    expect(prompt).not.toContain('the build is slow');
    expect(prompt).toContain('You have one unread mail');
    await daemon.client.tellAgent(workspace.id, { message: 'And the logout?' }, randomUUID());
    const second = await turnEnded(daemon, workspace.id, 2);
    expect(second.sessions[1]).toMatchObject({ conversation: 'resume', purpose: 'work' });
    expect(await daemon.promptOf(second.sessions[1]?.directory ?? '')).toContain('And the logout?');
    expect(second.agent).toMatchObject({ activity: 'idle' });
    const { mails } = await agentClient(daemon.home, workspace.id).listMail();
    expect(mails.map(({ body }) => body)).toContain('the build is slow');
  });
});

describe('ending the crew', () => {
  test('a member killed by a person stays dead until the crew is started again', async () => {
    await using place = await crewDaemon(turns(1));
    const { daemon } = place;
    const crew = await place.start();
    await worktreesReady(daemon, crew);
    await daemon.client.killAgent('supervisor', {});
    await daemon.loops.health();
    const after = await daemon.client.crew({ path: daemon.repository });
    expect(after.members.map(({ agent }) => agent === null)).toEqual([false, true, false]);
    await cleanedUp(daemon.client, member(crew, 'supervisor').id);
    const again = await place.start();
    expect(member(again, 'supervisor').id).not.toBe(member(crew, 'supervisor').id);
    expect(member(again, 'workspace').id).toBe(member(crew, 'workspace').id);
    expect((await daemon.client.listAgents()).agents).toHaveLength(3);
  });

  test('stop ends all three and leaves no worktree; a workspace continues with its branch later', async () => {
    await using place = await crewDaemon(turns(1));
    const { daemon } = place;
    const crew = await place.start();
    await worktreesReady(daemon, crew);
    const workspace = member(crew, 'workspace');
    await git(`${workspace.worktree}`, [...someone, 'commit', '-q', '--allow-empty', '-m', 'mine']);
    const mine = await git(`${workspace.worktree}`, ['rev-parse', 'HEAD']);
    expect(await daemon.client.stopCrew({ path: daemon.repository })).toMatchObject({
      wanted: false,
      members: [{ agent: null }, { agent: null }, { agent: null }],
    });
    for (const { agent } of crew.members)
      expect(await cleanedUp(daemon.client, agent?.id ?? '')).toMatchObject({ worktreeEnd: { state: 'trashed' } });
    await daemon.loops.health();
    expect((await daemon.client.listAgents()).agents).toEqual([]);
    const again = await place.start();
    await worktreesReady(daemon, again);
    expect(member(again, 'workspace')).toMatchObject({ branch: 'workspace/sample', baseCommit: mine });
    expect(await git(`${member(again, 'workspace').worktree}`, ['rev-parse', 'HEAD'])).toBe(mine);
  });
});

describe('an untracked project', () => {
  test('ends its crew, starts nothing and keeps everything; init restores it', async () => {
    await using place = await crewDaemon(turns(1));
    const { client, repository, loops } = place.daemon;
    await place.start();
    const { project, settings } = await client.untrackProject({ path: repository });
    expect(settings.untrackedAt).not.toBeNull();
    expect((await client.listAgents()).agents).toEqual([]);
    await loops.health();
    expect((await client.listAgents()).agents).toEqual([]);
    await expect(place.daemon.work()).rejects.toMatchObject({ code: 'conflict' });
    await expect(place.start()).rejects.toMatchObject({ code: 'conflict' });
    await client.changeProjectSettings({ path: repository, provider: 'calm' });
    expect(await client.addProject({ path: repository })).toMatchObject({
      created: false,
      trackedAgain: true,
      project: { id: project.id },
    });
    // At once, without a health check.
    expect((await client.crew({ path: repository })).members.map(({ agent }) => agent?.activity)).toEqual([
      'idle',
      'idle',
      'idle',
    ]);
    expect(await client.addProject({ path: repository })).toMatchObject({ trackedAgain: false });
  });

  test('is refused while agents work, by name; with force they are stopped and keep their worktrees', async () => {
    await using place = await crewDaemon(turns(1));
    const { client, repository } = place.daemon;
    const worker = await place.daemon.work([{ say: 'standing by' }, 'hang']);
    await waitUntil(async () => (await viewOf(client, worker.id)).activity === 'running', { what: 'it to run' });
    await expect(client.untrackProject({ path: repository })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(worker.alias) as string,
    });
    expect((await client.projectSettings({ path: repository })).settings.untrackedAt).toBeNull();
    expect(await client.untrackProject({ path: repository, force: true })).toMatchObject({ agents: { atWork: 0 } });
    expect(await viewOf(client, worker.id)).toMatchObject({ status: 'running', activity: 'stopped' });
    expect(existsSync(`${worker.worktree}`)).toBe(true);
  });
});
