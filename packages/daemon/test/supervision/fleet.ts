import { runOf } from '@pawl/core/sessions/run';
import type { Nudges } from '@pawl/daemon/supervision/nudges';
import { createNudges } from '@pawl/daemon/supervision/nudges';
import { createDefinitions } from '@pawl/daemon/definitions/definitions';
import { recordMail, shortBody } from '@pawl/daemon/mail/mail-record';
import { noteDelivered, noteRead } from '@pawl/daemon/mail/receipts';
import { ensureRootAgent, rootAgent } from '@pawl/daemon/platform/root-agent';
import type { Choices } from '@pawl/daemon/platform/platform';
import { unconfined } from '../support/unconfined.ts';
import { programs } from '@pawl/protocol/node/programs';
import type { Definition } from '@pawl/schema/definition';
import type { NewEvent } from '@pawl/schema/event';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Mail, MailKind } from '@pawl/schema/mail';
import type { Agent, Run } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, insertAgent, updateAgent } from '@pawl/store/agents/agents';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { listMail, waitingMail } from '@pawl/store/mail/mail';
import { insertProject } from '@pawl/store/projects/projects';
import { openDatabase } from '@pawl/store/directory/recovery';
import { endRun, insertRun } from '@pawl/store/sessions/runs';
import { insertSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { giveDatabase } from '@pawl/testing/home-database';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { agentRecord, sessionRecord } from '../support/records.ts';

export const minuteMs = 60_000;
const beginning = 1_700_000_000_000;

/** A project’s agents as rows, on a clock that a test moves: nothing is started, but starts are recorded. */
export type Fleet = {
  store: Store;
  nudges: Nudges;
  clock: { now: number };
  /** Agents that a nudge woke and that have not had their turn. */
  woken: string[];
  /** Adds an agent with a built-in definition; working, or idle after its first run. */
  add(definition: string, state: 'new' | 'working' | 'resting', fields?: Partial<Agent>): Promise<Agent>;
  end(agentId: string, outcome?: 'completed' | 'failed' | 'cancelled'): Promise<void>;
  emit(event: NewEvent): Promise<void>;
  mail(toId: string, kind: MailKind): Promise<Mail>;
  /** Woken agents read their mail; idle ones have a turn with it, which ends well. */
  playTurns(): Promise<void>;
  /**
   * A day, or another time, with one tick a minute. Returns the minutes in which each agent was nudged, and the texts.
   */
  live(
    minutes: number,
    options?: { unresponsive?: boolean; at?: Record<number, () => Promise<unknown>> },
  ): Promise<Nudged>;
  update(agentId: string, fields: Parameters<typeof updateAgent>[2]): Promise<void>;
  count(type: NewEvent['type']): Promise<number>;
  reasons(agentId: string): Promise<unknown[]>;
};

export type Nudged = Record<string, { minutes: number[]; texts: string[] }>;

/** Opens a fleet on a store of its own. */
export async function openFleet(choices: Partial<Choices> = {}): Promise<Fleet> {
  const place = await temporaryDirectory();
  const clock = { now: beginning };
  const directory = openDataDirectory(place.path);
  await giveDatabase(directory.path);
  const store = await openDatabase(directory, { clock: () => clock.now });
  onTestFinished(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  await ensureRootAgent(store);
  const root = await rootAgent(store.db);
  const project = { id: newId(), name: 'sample', root: '/sample', createdAt: beginning };
  await store.write((tx) => insertProject(tx, project));
  const builtIn = createDefinitions({ builtIn: programs.builtInDefinitions, user: place.path, isTrusted: () => false });
  const { definitions } = await builtIn.load(null);
  const woken: string[] = [];
  const nudges = createNudges({
    store,
    clock: () => clock.now,
    timing: {
      stopGraceMs: 0,
      hungAfterSignalMs: 0,
      hungAfterResultMs: 0,
      livenessMs: 0,
      limitGraceMs: 0,
      routeMs: limits.routeMs,
      healthMs: limits.healthMs,
      nudgeMs: limits.nudgeMs,
      nudgeGapMs: limits.nudgeGapMs,
      queueMs: limits.queueMs,
      queueWaitMs: limits.queueWaitMs,
      adoptionMs: limits.adoptionMs,
    },
    choices: { ...unconfined, ...choices },
    log: pino({ enabled: false }),
  });
  store.onCommit(({ events }) => {
    for (const { type, agentId } of events) if (type === 'nudge.sent' && agentId !== null) woken.push(agentId);
  });

  async function begin(tx: WriteTransaction, agent: Agent, definition: Definition): Promise<void> {
    const begun = runOf(agent, { id: newId(), project, task: 'a task', definition, now: tx.now });
    await insertRun(tx, begun.run);
    const before = (await agentView(tx.db, agent.id))?.session ?? null;
    const no = (before?.no ?? 0) + 1;
    await insertSession(tx, sessionRecord(begun.run, { no, startedAt: tx.now, endedAt: tx.now, exitCode: 0 }));
    tx.emit(begun.event);
  }

  async function end(tx: WriteTransaction, agentId: string, outcome: NonNullable<Run['outcome']>): Promise<void> {
    const facts = await agentView(tx.db, agentId);
    if (facts?.run?.outcome !== null) return;
    await endRun(tx, facts.run.id, { outcome, detail: null, questions: null });
    tx.emit({ type: 'run.ended', projectId: project.id, agentId, data: { status: outcome, detail: null } });
  }

  async function playTurn(tx: WriteTransaction, agentId: string): Promise<void> {
    const facts = await agentView(tx.db, agentId);
    const definition = definitions.get(facts?.agent.definition ?? '');
    const isAtRest = facts?.run?.outcome === 'completed';
    if (facts !== null && isAtRest && definition !== undefined) await begin(tx, facts.agent, definition);
    for (const mail of await waitingMail(tx.db, agentId, 100)) {
      await noteDelivered(tx, mail, 'turn');
      await noteRead(tx, mail);
    }
    if (isAtRest) await end(tx, agentId, 'completed');
  }

  const fleet: Fleet = {
    store,
    nudges,
    clock,
    woken,
    async add(name, state, fields = {}) {
      const definition = definitions.get(name);
      if (definition === undefined) throw new Error(`there is no definition ${name}`);
      const agent = agentRecord({
        projectId: project.id,
        parentId: root.id,
        supervisorId: root.id,
        definition: name,
        class: definition.class,
        worktreeReadyAt: beginning,
        ...fields,
      });
      await store.write(async (tx) => {
        await insertAgent(tx, agent);
        const data = { alias: agent.alias, parentId: root.id, definition: name, provider: null, branch: null };
        const about = { projectId: project.id, agentId: agent.id };
        tx.emit({ type: 'agent.forked', ...about, data: { ...data, forkMessageId: 0 } });
        if (state !== 'new') await begin(tx, agent, definition);
        if (state === 'resting') await end(tx, agent.id, 'completed');
      });
      return agent;
    },
    end: (agentId, outcome = 'completed') => store.write((tx) => end(tx, agentId, outcome)),
    emit: (event) => store.write(async (tx) => tx.emit({ projectId: project.id, ...event })),
    mail: (toId, kind) =>
      store.write(async (tx) => {
        const to = await agentById(tx.db, toId);
        return recordMail(tx, { from: root, to: to ?? root, kind }, shortBody('hello'));
      }),
    async playTurns() {
      const ids = new Set(woken.splice(0));
      if (ids.size === 0) return;
      await store.write(async (tx) => {
        for (const agentId of ids) await playTurn(tx, agentId);
      });
    },
    async live(minutes, { unresponsive = false, at = {} } = {}) {
      const startedAt = clock.now;
      for (let minute = 0; minute < minutes; minute++) {
        clock.now = startedAt + minute * minuteMs;
        await at[minute]?.();
        await nudges.tick();
        if (!unresponsive) await fleet.playTurns();
      }
      return nudgedSince(store, startedAt);
    },
    update: (agentId, fields) =>
      store.write(async (tx) => {
        await updateAgent(tx, agentId, fields);
        tx.emit({ type: 'agent.stopping', projectId: project.id, agentId, data: { by: 'person' } });
      }),
    count: async (type) => (await everyEvent(store)).filter((event) => event.type === type).length,
    reasons: async (agentId) =>
      (await everyEvent(store))
        .filter((event) => event.type === 'nudge.skipped' && event.agentId === agentId)
        .map((event) => event.data['reason']),
  };
  return fleet;
}

async function nudgedSince(store: Store, startedAt: number): Promise<Nudged> {
  const nudged: Nudged = {};
  for (const mail of await everyNudge(store)) {
    const entry = (nudged[mail.toId] ??= { minutes: [], texts: [] });
    entry.minutes.push((mail.createdAt - startedAt) / minuteMs);
    if (!entry.texts.includes(mail.body)) entry.texts.push(mail.body);
  }
  return nudged;
}

async function everyNudge(store: Store): Promise<Mail[]> {
  const mails: Mail[] = [];
  for (;;) {
    const before = mails.at(-1)?.id;
    const page = await listMail(store.db, { limit: limits.pageRows, ...(before === undefined ? {} : { before }) });
    mails.push(...page);
    if (page.length < limits.pageRows) return mails.filter(({ kind }) => kind === 'nudge').toReversed();
  }
}

async function everyEvent(store: Store) {
  const events: Awaited<ReturnType<typeof readEvents>> = [];
  for (;;) {
    const page = await readEvents(store.db, { afterSeq: events.at(-1)?.seq ?? 0, limit: limits.pageRows });
    events.push(...page);
    if (page.length < limits.pageRows) return events;
  }
}
