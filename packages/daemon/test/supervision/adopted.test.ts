import { processTable } from '@pawl/host/process/process-table';
import { homeClient } from '@pawl/protocol/node/home-client';
import type { AgentView } from '@pawl/protocol/agents/view';
import { PawlError } from '@pawl/schema/error';
import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { restingAgents } from '../support/resting-agents.ts';

/** Every call scans again. */
const timing = { adoptionMs: 0 };

/** A daemon, and programs named like agents. */
async function aHouse(home?: string) {
  const directory = await temporaryDirectory('pawl-adopted');
  const daemon = await startTestDaemon({ timing, ...(home === undefined ? {} : { home }) });
  const strangers = sleepers(directory.path);
  return {
    daemon,
    strangers,
    async [Symbol.asyncDispose]() {
      await strangers[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

const startOf = (pid: number) => processTable.read(pid)?.start ?? '';

async function adoptedIn({ client }: Pick<TestDaemon, 'client'>, all = false): Promise<AgentView[]> {
  return (await client.listAgents({ all })).agents.filter(({ adopted }) => adopted !== null);
}

describe.runIf(process.platform === 'linux')('7.1: agents that somebody else started', () => {
  test('ps shows them as adopted; they are forks of agent 0, and leave with their process [7.7]', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    expect(await adoptedIn(daemon)).toEqual([]);
    mkdirSync(join(daemon.repository, 'deep'));
    const pid = await strangers.start('claude', join(daemon.repository, 'deep'));
    const [found, ...more] = await adoptedIn(daemon);
    expect(more).toEqual([]);
    const cwd = join(daemon.repository, 'deep');
    expect(found).toMatchObject({
      alias: `claude-${pid}`,
      adopted: { pid, cwd },
      provider: 'claude',
      definition: 'helper-mode',
      kind: 'main',
      branch: null,
      worktree: null,
      run: null,
      status: 'running',
      activity: 'running',
      detail: `adopted: pid ${pid}`,
    });
    const root = (await daemon.client.listAgents({ all: true })).agents.find(({ parentId }) => parentId === null);
    expect(found?.parentId).toBe(root?.id);
    const { messages } = await daemon.client.history(found?.id ?? '');
    expect(messages.map(({ kind, data }) => [kind, data?.['role']])).toEqual([['fork', 'child']]);
    expect((await adoptedIn(daemon)).map(({ id }) => id)).toEqual([found?.id]);

    await strangers.end(pid);
    expect(await adoptedIn(daemon)).toEqual([]);
    expect(await adoptedIn(daemon, true)).toMatchObject([{ id: found?.id, status: 'dead', detail: 'left' }]);
    const { events } = await daemon.client.events({ agent: found?.id ?? '' });
    expect(events.map(({ type }) => type)).toEqual(['agent.forked', 'agent.adopted', 'agent.left']);
  });

  test('they are only observed: other actions are refused, and the process continues', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    const { client } = daemon;
    const pid = await strangers.start('codex', daemon.repository);
    await adoptedIn(daemon);
    const alias = `codex-${pid}`;
    const attempts: Record<string, () => Promise<unknown>> = {
      stop: () => client.stopAgent(alias),
      kill: () => client.killAgent(alias, {}),
      cascade: () => client.killAgent(alias, { cascade: true }),
      resume: () => client.resumeAgent(alias, { prompt: 'go on' }, randomUUID()),
      tell: () => client.tellAgent(alias, { message: 'stop that' }, randomUUID()),
      fork: () => client.fork(alias, { prompt: 'try' }, randomUUID()),
      pause: () => client.signalAgent(alias, 'pause'),
      continue: () => client.signalAgent(alias, 'continue'),
      interrupt: () => client.signalAgent(alias, 'interrupt'),
      cancel: () => client.cancelRun(alias),
      switch: () => client.switchAgent({ to: alias }),
      clear: () => client.note(alias, 'clear', {}),
      mark: () => client.note(alias, 'mark', { label: 'x' }),
      rewind: () => client.note(alias, 'rewind', {}),
      reap: () => client.signalAgent(alias, 'reap'),
      reply: () => client.replyAgent(alias, { answer: 'yes' }, randomUUID()),
      complete: () => client.completeAgent(alias, {}),
    };
    for (const [verb, attempt] of Object.entries(attempts)) {
      const refused = await attempt().then(
        () => 'done',
        (error: unknown) => (error instanceof PawlError ? error.code : String(error)),
      );
      expect([verb, refused]).toEqual([verb, 'conflict']);
    }
    await expect(client.stopAgent(alias)).rejects.toThrow(/not started by Pawl; end it in its own terminal/);
    await client.stopAll();
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    expect(await adoptedIn(daemon)).toMatchObject([{ alias, activity: 'running' }]);
  });

  test('a new daemon recognises them by pid and start, and notices which have left meanwhile', async () => {
    await using place = await temporaryDirectory('pawl-adopted');
    const strangers = sleepers(join(place.path, 'bin'));
    await using _strangers = strangers;
    const first = await startTestDaemon({ timing, home: join(place.path, 'home') });
    await using _first = first;
    const [stays, leaves] = [
      await strangers.start('claude', first.repository),
      await strangers.start('claude', first.repository),
    ];
    const before = await adoptedIn(first);
    expect(new Set(before.map(({ adopted }) => adopted?.pid))).toEqual(new Set([stays, leaves]));
    await first.stop();
    expect(existsSync(`/proc/${stays}`)).toBe(true);
    await strangers.end(leaves);

    const second = await startTestDaemon({ timing, home: join(place.path, 'home') });
    await using _second = second;
    expect((await adoptedIn(second)).map(({ id }) => id)).toEqual(
      before.filter(({ adopted }) => adopted?.pid === stays).map(({ id }) => id),
    );
    expect((await adoptedIn(second, true)).length).toBe(2);
  });

  test('a taken alias gets a number; Pawl’s own processes are not adopted', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    const own = await daemon.rested();
    const session = own.session?.id ?? '';
    await strangers.start('claude', daemon.repository, { PAWL_SESSION: session, PAWL_AGENT_ID: own.id });
    expect(await adoptedIn(daemon)).toEqual([]);
    const pid = await strangers.start('gemini', daemon.repository, { PAWL_SESSION: 'of-another-home' });
    await daemon.work(['complete'], { alias: `gemini-${pid}` });
    expect((await adoptedIn(daemon)).map(({ alias }) => alias)).toEqual([`gemini-${pid}-2`]);
  });

  test('each has a mailbox that it reads itself, and its own mail never comes from the person [7.5]', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    const first = await strangers.start('claude', daemon.repository);
    const second = await strangers.start('codex', daemon.repository);
    const self = async (pid: number) => daemon.client.rosterSelf({ pid, start: startOf(pid) });
    const [primary, helper] = [await self(first), await self(second)];
    expect([primary.agent.alias, helper.agent.alias]).toEqual([`claude-${first}`, `codex-${second}`]);
    const asHelper = homeClient(daemon.home, { token: helper.token });
    const asPrimary = homeClient(daemon.home, { token: primary.token });
    await asHelper.sendMail({ to: 'primary', body: 'the lock file is stale' }, randomUUID());
    const { mails } = await asPrimary.fetchMail({ unread: true });
    expect(mails).toMatchObject([{ from: { alias: `codex-${second}` }, body: 'the lock file is stale' }]);
    await daemon.client.sendMail({ to: `codex-${second}`, body: 'leave it' }, randomUUID());
    expect((await asHelper.fetchMail({ unread: true })).mails).toMatchObject([{ body: 'leave it' }]);
    await expect(asPrimary.listMail({ agent: `codex-${second}` })).rejects.toMatchObject({ code: 'forbidden' });
    const stranger = { pid: first, start: 'another boot' };
    await expect(daemon.client.rosterSelf(stranger)).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(
      daemon.client.work(
        { path: daemon.repository, task: 'help', provider: 'scripted', definition: 'helper-mode' },
        randomUUID(),
      ),
    ).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('they cannot be asked, since nothing makes them answer, and the error says so [7.5]', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    const pid = await strangers.start('claude', daemon.repository);
    await adoptedIn(daemon);
    const [fox] = await restingAgents(daemon.home, [{ alias: 'calm-fox' }]);
    const alias = `claude-${pid}`;
    for (const client of [daemon.client, fox?.client ?? daemon.client]) {
      const refused = { code: 'conflict', message: expect.stringContaining('not started by Pawl') };
      await expect(client.ask({ agent: alias, question: 'are you done?' }, randomUUID())).rejects.toMatchObject(
        refused,
      );
    }
    expect((await daemon.client.listMail({ agent: alias })).mails).toEqual([]);
  });

  test('20 concurrent callers find each of them once', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    for (const name of ['claude', 'codex', 'gemini', 'qwen']) await strangers.start(name, daemon.repository);
    await Promise.all(Array.from({ length: 20 }, () => daemon.client.listAgents()));
    expect((await adoptedIn(daemon, true)).length).toBe(4);
  });
});

describe.runIf(process.platform === 'linux')('7.7: the roster of a daemon', () => {
  test('an agent asks about its own project, a person about the one at a path', async () => {
    await using house = await aHouse();
    const { daemon, strangers } = house;
    const own = await daemon.rested();
    const asAgent = agentClient(daemon.home, own.id);
    expect(await asAgent.roster()).toEqual({ alone: true, others: [], doubts: [] });
    const pid = await strangers.start('claude', daemon.repository);
    await strangers.start('codex', daemon.repository, { PAWL_AGENT_ID: own.id });
    const { alone, others } = await asAgent.roster({ path: '/elsewhere' });
    expect([alone, others.map((other) => other.pid)]).toEqual([false, [pid]]);
    expect((await daemon.client.roster({ path: daemon.repository })).others.length).toBe(2);
    await expect(daemon.client.roster()).rejects.toThrow(/No project given/);
  });

  test('many callers share one recent scan of all processes', async () => {
    await using daemon = await startTestDaemon({ timing: { adoptionMs: 600_000, healthMs: 600_000 } });
    await using place = await temporaryDirectory('pawl-adopted');
    await using strangers = sleepers(place.path);
    const [fox] = await restingAgents(daemon.home, [{ alias: 'calm-fox' }]);
    const asAgent = fox?.client ?? daemon.client;
    const first = await strangers.start('claude', daemon.repository);
    expect((await asAgent.roster()).others.map(({ pid }) => pid)).toEqual([first]);
    await strangers.start('codex', daemon.repository);
    for (const client of [asAgent, daemon.client])
      expect((await client.roster({ path: daemon.repository })).others.map(({ pid }) => pid)).toEqual([first]);
  });
});

test('a daemon records all programs, including those of config.yaml [W0-03]', async () => {
  await using daemon = await startTestDaemon({
    providers: { mine: { command: ['/opt/mine'] }, broken: { command: [] } },
    choices: { provider: 'mine' },
  });
  const written: unknown = JSON.parse(readFileSync(daemon.home.programs, 'utf8'));
  expect(written).toMatchObject({
    provider: 'mine',
    programs: expect.arrayContaining([{ provider: 'mine', program: '/opt/mine', names: ['mine'], commandLine: null }]),
  });
});
