import type { AgentView } from '@pawl/protocol/agents/view';
import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { timesShown } from '../support/mail.ts';
import type { RestingAgent } from '../support/resting-agents.ts';
import { restingAgents } from '../support/resting-agents.ts';
import { atWork, endOf, endedUnseen, mailsAbout } from './asking.ts';

/** Time passes only when a test says so. */
let now = Date.now();
let daemon: TestDaemon;
/** Idle agents that fetch their mail, so that nothing else happens to them. */
let asker: RestingAgent;
let asked: AgentView;
beforeAll(async () => {
  daemon = await startTestDaemon({ clock: () => now, timing: { routeMs: 50 } });
  asked = await atWork(daemon);
  [asker] = (await restingAgents(daemon.home, [{}])) as [RestingAgent];
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function ask(timeoutMs: number, to: AgentView = asked): Promise<string> {
  const { question } = await asker.client.ask({ agent: to.id, question: 'x?', timeoutMs }, randomUUID());
  return question.conversationId;
}

/** The mails that told the asker how it ended. */
async function toldTo({ id }: RestingAgent, conversationId: string, client = daemon.client): Promise<string[]> {
  return (await mailsAbout({ client }, conversationId)).filter(({ to }) => to === id).map(({ kind }) => kind);
}

/** Everything due so far is done when the question that is due last has been reported. */
async function allTold(): Promise<void> {
  const last = await ask(1);
  now += 1;
  await endedUnseen(daemon, last);
  now += limits.answerGraceMs;
  await waitUntil(async () => (await toldTo(asker, last)).length === 1, { what: 'the last one to be told' });
}

describe('the end without an answer', () => {
  test('is mailed if no command fetches it, even if it ended right after it was asked', async () => {
    const conversationId = await ask(1);
    now += 1;
    expect((await endedUnseen(daemon, conversationId)).end).toBe('expired');
    expect(await toldTo(asker, conversationId)).toEqual([]);
    now += limits.answerGraceMs;
    await waitUntil(async () => (await toldTo(asker, conversationId)).length > 0, { what: 'the notice' });
    await allTold();
    expect(await toldTo(asker, conversationId)).toEqual(['system']);
  });

  test('is not mailed to an asker whose command has shown it', async () => {
    const conversationId = await ask(1);
    const end = endOf(asker.client, conversationId);
    now += 1;
    expect((await end).end).toBe('expired');
    await asker.client.noteShown(conversationId);
    await asker.client.noteShown(conversationId);
    now += limits.answerGraceMs;
    await allTold();
    expect(await toldTo(asker, conversationId)).toEqual([]);
  });

  test('is mailed at once even while the recipient, or a person, watches', async () => {
    const conversationId = await ask(30_000);
    const onlookers = [agentClient(daemon.home, asked.id), daemon.client].map((each) => endOf(each, conversationId));
    now += 30_000;
    expect((await Promise.all(onlookers)).map(({ end }) => end)).toEqual(['expired', 'expired']);
    expect(await toldTo(asker, conversationId)).toEqual(['system']);
  });

  test('an asker that found no free slot to wait does not count as waiting', async () => {
    const [awaited, refused] = [await ask(30_000), await ask(30_000)];
    const leaving = new AbortController();
    const ends = Array.from({ length: limits.streams }, () =>
      asker.client.followQuestion(awaited, leaving.signal).next(),
    );
    const noRoom = async () =>
      asker.client
        .followQuestion(refused)
        .next()
        .then(
          () => false,
          (error: { code?: string }) => error.code === 'unavailable',
        );
    await waitUntil(noRoom, { what: 'every place to be taken' });
    leaving.abort();
    await Promise.all(ends);
    now += 30_000;
    await endedUnseen(daemon, refused);
    expect(await toldTo(asker, refused)).toEqual(['system']);
  });

  test('after a restart it is shown by the command that returns, and not mailed as well [fault 4]', async () => {
    await using place = await temporaryDirectory();
    const options = { home: join(place.path, 'home'), clock: () => now, timing: { routeMs: 50 } };
    const first = await startTestDaemon(options);
    const [own] = (await restingAgents(first.home, [{}])) as [RestingAgent];
    const body = { person: true, question: 'May I?', timeoutMs: 30_000 } as const;
    const { conversationId } = (await own.client.ask(body, randomUUID())).question;
    await first.stop();
    now += 60_000;
    await using second = await startTestDaemon(options);
    expect((await endedUnseen(second, conversationId)).end).toBe('expired');
    expect(await toldTo(own, conversationId, second.client)).toEqual([]);
    expect((await endOf(own.client, conversationId)).end).toBe('expired');
    await own.client.noteShown(conversationId);
    now += limits.answerGraceMs;
    const last = (await own.client.ask({ ...body, timeoutMs: 1 }, randomUUID())).question.conversationId;
    now += limits.answerGraceMs;
    await waitUntil(async () => (await toldTo(own, last, second.client)).length === 1, { what: 'the last to be told' });
    expect(await toldTo(own, conversationId, second.client)).toEqual([]);
    await first[Symbol.asyncDispose]();
  });
});

describe('a question in a process’s input when it ends', () => {
  /** A question that was written to a process which does not read, and has ended. */
  async function endedUnread() {
    const agent = await atWork(daemon);
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    const pid = sessions[0]?.pid ?? 0;
    process.kill(-pid, 'SIGSTOP');
    const conversationId = await ask(30_000, agent);
    const mail = async () => {
      const { mails } = await daemon.client.listMail({ agent: agent.id, limit: 10 });
      return mails.find(({ questionId }) => questionId === conversationId);
    };
    await waitUntil(async () => (await mail())?.detail.includes('was given it') ?? false, {
      what: 'it to be written',
    });
    now += 30_000;
    expect((await endedUnseen(daemon, conversationId)).end).toBe('expired');
    const states = async () => (await mailsAbout(daemon, conversationId)).find(({ to }) => to === agent.id)?.states;
    return { agent, pid, mailId: (await mail())?.id ?? '', states };
  }

  test('is not a dead letter, but delivered when the process shows it [fault 3]', async () => {
    const { pid, states } = await endedUnread();
    expect(await states()).toEqual(['sent', 'asked']);
    process.kill(-pid, 'SIGCONT');
    await waitUntil(async () => (await states())?.includes('delivered') ?? false, { what: 'its delivery' });
    expect(await states()).not.toContain('dead_lettered');
  });

  test('is withdrawn when the process dies with it, and not given to the next one [fault 3]', async () => {
    const { agent, pid, mailId, states } = await endedUnread();
    process.kill(-pid, 'SIGKILL');
    await waitUntil(async () => (await states())?.includes('dead_lettered') ?? false, { what: 'its withdrawal' });
    expect(await states()).toEqual(['sent', 'asked', 'returned', 'dead_lettered']);
    expect(await timesShown(daemon.client, agent.id, [mailId])).toEqual([0]);
  });
});
