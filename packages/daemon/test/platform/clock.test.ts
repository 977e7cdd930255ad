import { createClock, settleTimes } from '@pawl/daemon/platform/clock';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import { insertQuestion, questionById } from '@pawl/store/mail/questions';
import { daemonState } from '@pawl/store/facts/daemon-state';
import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { askAs, atWork, endedUnseen } from '../questions/asking.ts';
import { openMailHome } from '../support/mail-home.ts';
import { storeOf } from '../support/stores.ts';

const twoHoursMs = 2 * 60 * 60_000;
const minuteMs = 60_000;

/** A machine's clocks: a test sets the wall clock and lets time pass. */
function machine() {
  let [setMs, passedMs] = [0, 0];
  return {
    clock: () => Date.now() + passedMs + setMs,
    monotonic: () => performance.now() + passedMs,
    set: (byMs: number) => (setMs += byMs),
    pass: (ms: number) => (passedMs += ms),
  };
}
type Machine = ReturnType<typeof machine>;

/** Sets the wall clock, and waits until the daemon has noticed. */
async function setClock({ home }: TestDaemon, clocks: Machine, byMs: number): Promise<void> {
  const { db } = storeOf(home.root);
  const before = (await daemonState(db)).clock;
  clocks.set(byMs);
  await waitUntil(async () => (await daemonState(db)).clock !== before, {
    what: 'the daemon to follow the clock',
  });
}

const overloaded = { fail: { status: 529, text: 'API Error: 529 Overloaded' } };

describe.each([
  ['back two hours', -twoHoursMs],
  ['ahead two hours', twoHoursMs],
])('a clock that is set %s [fault 11]', (_, byMs) => {
  test('neither stalls a retry nor makes it early', async () => {
    const clocks = machine();
    await using daemon = await startTestDaemon(clocks);
    const agent = await daemon.work([overloaded, overloaded, overloaded, 'complete']);
    const waiting = await waitUntil(
      async () => {
        const { rows } = await waitsOf(daemon, agent.id);
        return rows[0]?.wait_until ?? null;
      },
      { what: 'the run to wait' },
    );
    await setClock(daemon, clocks, byMs);
    const { rows } = await waitsOf(daemon, agent.id);
    // It has started, or waits for the rest of its delay; stored times are whole milliseconds.
    const until = rows[0]?.wait_until ?? null;
    if (until !== null) expect(Number(until) - Number(waiting) - byMs).toBeGreaterThanOrEqual(-1);
    if (until !== null) expect(Number(until) - clocks.clock()).toBeLessThanOrEqual(4_000);
    expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  });

  test('keeps the remaining time of a question and its listener', async () => {
    const clocks = machine();
    await using daemon = await startTestDaemon({ ...clocks, timing: { routeMs: 50 } });
    const [asker, agent] = [await atWork(daemon), await atWork(daemon)];
    const { conversationId } = await askAs(daemon, asker, {
      agent: agent.id,
      question: 'Which port?',
      timeoutMs: 3 * minuteMs,
    });
    const listener = agentClient(daemon.home, agent.id);
    const heard = async () => {
      for await (const question of listener.listen(agent.id)) return question.conversationId;
      return null;
    };
    expect(await heard()).toBe(conversationId);
    await setClock(daemon, clocks, byMs);
    const { question } = await daemon.client.showQuestion(conversationId);
    expect(question.end).toBeNull();
    const leftMs = (question.deadlineAt ?? 0) - clocks.clock();
    expect(leftMs).toBeLessThanOrEqual(3 * minuteMs);
    expect(leftMs).toBeGreaterThan(minuteMs);
    const leaseMs =
      ((await questionById(storeOf(daemon.home.root).db, conversationId))?.listenedUntil ?? 0) - clocks.clock();
    expect(leaseMs).toBeLessThanOrEqual(limits.listenMs);
    expect(leaseMs).toBeGreaterThan(0);
    clocks.pass(limits.listenMs);
    expect(await heard()).toBe(conversationId);
    clocks.pass(3 * minuteMs);
    expect((await endedUnseen(daemon, conversationId)).end).toBe('expired');
  });

  test('keeps the remaining wait for a limit', async () => {
    const clocks = machine();
    await using daemon = await startTestDaemon(clocks);
    const agent = await daemon.work([{ limit: { until: '30m' } }, 'complete']);
    await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'exhausted', {
      what: 'the limit',
    });
    await setClock(daemon, clocks, byMs);
    await daemon.loops.health();
    const { activity, exhaustedUntil } = await viewOf(daemon.client, agent.id);
    expect(activity).toBe('exhausted');
    const leftMs = (exhaustedUntil ?? 0) - clocks.clock();
    // The agent names the end of its limit in whole seconds.
    expect(leftMs).toBeLessThanOrEqual(30 * minuteMs + 500);
    expect(leftMs).toBeGreaterThan(minuteMs);
    clocks.pass(30 * minuteMs);
    await daemon.loops.health();
    expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  });

  test('neither uses up a time budget, nor makes an agent stuck, nor keeps it from leaving', async () => {
    const clocks = machine();
    await using daemon = await startTestDaemon({ ...clocks, timing: { stopGraceMs: 300 } });
    const agent = await daemon.work([{ say: 'at work' }, { hang: { ignore_term: true } }], {
      budget: { minutes: 60 },
    });
    await waitUntil(async () => ((await viewOf(daemon.client, agent.id)).session?.pid ?? null) !== null, {
      what: 'its session',
    });
    for (const look of [1, 2]) {
      if (look === 2) await setClock(daemon, clocks, byMs);
      await daemon.loops.health();
    }
    expect(await viewOf(daemon.client, agent.id)).toMatchObject({ run: { status: 'running' }, activity: 'running' });
    // A budget counts from here.
    const { sessions } = await daemon.client.inspectAgent(agent.id, { worktree: false });
    expect(Math.abs(clocks.clock() - (sessions[0]?.startedAt ?? 0))).toBeLessThan(30 * minuteMs);
    clocks.set(-byMs);
    await daemon.client.stopAgent(agent.id);
    expect(await viewOf(daemon.client, agent.id)).toMatchObject({ activity: 'stopped' });
  });

  test('while no daemon runs keeps the remaining time of a question', async () => {
    const clocks = { wall: Date.now(), monotonic: 50 };
    const ofDaemon = () => createClock({ wall: () => clocks.wall, monotonic: () => clocks.monotonic });
    await using place = await openMailHome({ clock: () => clocks.wall });
    const { store, fox, owl } = place;
    expect(await settleTimes(store, ofDaemon())).toBe(0);
    const question: Question = {
      id: newId(),
      projectId: fox.projectId,
      fromId: fox.id,
      toId: owl.id,
      kind: 'question',
      question: 'Which port?',
      mailId: newId(),
      taskId: null,
      phase: null,
      askedAt: clocks.wall,
      deadlineAt: clocks.wall + 10 * minuteMs,
      listenedUntil: null,
      endedAt: null,
      end: null,
      answer: null,
      toldAt: null,
      answerMailId: null,
    };
    await store.write((tx) => insertQuestion(tx, question));
    clocks.monotonic += minuteMs;
    clocks.wall += minuteMs + byMs;
    expect(await settleTimes(store, ofDaemon())).toBe(byMs);
    const leftMs = ((await questionById(store.db, question.id))?.deadlineAt ?? 0) - clocks.wall;
    expect(leftMs).toBe(9 * minuteMs);
    // The next daemon finds nothing more to do.
    expect(await settleTimes(store, ofDaemon())).toBe(0);
  });
});

/** The stored waits of an agent's runs. */
async function waitsOf(daemon: TestDaemon, agentId: string) {
  const rows = await storeOf(daemon.home.root)
    .db.selectFrom('runs')
    .select('wait_until')
    .where('agent_id', '=', agentId)
    .execute();
  return { rows };
}

test('the daemon’s time advances evenly, and follows a set clock only when told to', () => {
  const clocks = { wall: 1_000_000, monotonic: 50 };
  const clock = createClock({ wall: () => clocks.wall, monotonic: () => clocks.monotonic });
  clocks.wall += twoHoursMs + 500;
  clocks.monotonic += 500;
  expect([clock.now(), clock.jumpMs()]).toEqual([1_000_500, twoHoursMs]);
  clock.follow(clock.jumpMs());
  expect([clock.now(), clock.jumpMs()]).toEqual([1_000_500 + twoHoursMs, 0]);
  // Less than two seconds is not a jump.
  clocks.wall -= 1_500;
  expect(clock.jumpMs()).toBe(0);
});
