import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import type { AgentView } from '@pawl/protocol/agents/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const command = { name: 'Bash', input: { command: 'npm test' } };

async function asking(steps: unknown[]): Promise<AgentView> {
  return daemon.work([...steps, { say: 'went on' }, 'complete'], { access: 'ask' });
}

async function requestsOf({ id }: AgentView) {
  return (await daemon.client.inbox()).items.filter(({ agent, kind }) => agent.id === id && kind === 'permission');
}

/** The first request of an agent, once it is in the inbox. */
async function requestOf(agent: AgentView) {
  await waitUntil(async () => (await requestsOf(agent)).length > 0, { what: 'the request in the inbox' });
  const [item] = await requestsOf(agent);
  if (item === undefined) throw new Error('no request');
  return item;
}

async function eventsOf(agentId: string): Promise<string[]> {
  const { events } = await daemon.client.events({ agent: agentId, limit: 1_000 });
  return events.map(({ type }) => type).filter((type) => type.startsWith('approval.'));
}

describe('a request of a CLI', () => {
  test('is shown with command and directory, and an allowed one continues the same turn [S2-16]', async () => {
    const agent = await asking([{ permit: command }]);
    const { id, questions } = await requestOf(agent);
    expect(questions[0]?.question).toContain('Bash: npm test');
    expect(questions[0]?.question).toContain(`in ${agent.worktree}`);
    expect(await viewOf(daemon.client, agent.id)).toMatchObject({
      activity: 'waiting_for_approval',
      detail: 'Bash: npm test',
    });
    await daemon.client.replyAgent(id, { allow: true }, randomUUID());
    const ended = await daemon.ended(agent.id);
    expect(ended.session?.no).toBe(1);
    expect(await outputText(daemon.client, agent.id)).toContain('1 allowed, 0 denied');
    expect(await eventsOf(agent.id)).toEqual(['approval.asked', 'approval.referred', 'approval.answered']);
    expect((await daemon.client.showApproval(id)).approval).toMatchObject({
      decision: 'allow',
      closedBy: 'person',
      sentAt: expect.any(Number) as number,
    });
  });

  test('that is denied reaches the model with the person’s reason [S2-16]', async () => {
    const agent = await asking([{ permit: command }]);
    await requestOf(agent);
    await daemon.client.replyAgent(agent.alias, { allow: false, answer: 'use npm run check' }, randomUUID());
    await daemon.ended(agent.id);
    const output = await outputText(daemon.client, agent.id);
    expect(output).toContain('0 allowed, 1 denied: use npm run check');
    expect(output).toContain('went on');
  });

  test('takes the first of two answers; the second learns who was first [approvals]', async () => {
    const agent = await asking([{ permit: command }]);
    const { id } = await requestOf(agent);
    const answers = await Promise.allSettled([
      daemon.client.replyAgent(id, { allow: true }, randomUUID()),
      daemon.client.replyAgent(id, { allow: false }, randomUUID()),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const late = daemon.client.replyAgent(id, { allow: false }, randomUUID());
    await expect(late).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/(allowed|denied) already, by a person/) as string,
    });
    await daemon.ended(agent.id);
    expect((await eventsOf(agent.id)).filter((type) => type === 'approval.answered')).toHaveLength(1);
  });

  test('is withdrawn by its CLI, and cannot be answered then', async () => {
    const agent = await asking([{ permit: { ...command, cancel: '3s' } }]);
    const { id } = await requestOf(agent);
    await waitUntil(async () => (await requestsOf(agent)).length === 0, { what: 'its card to go' });
    const late = daemon.client.replyAgent(id, { allow: true }, randomUUID());
    await expect(late).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('withdrawn') as string,
    });
    await daemon.ended(agent.id);
    expect(await eventsOf(agent.id)).toContain('approval.withdrawn');
  });

  test('is withdrawn when its session dies [approvals]', async () => {
    const agent = await daemon.work([{ permit: command }, 'complete'], { access: 'ask' });
    const { id } = await requestOf(agent);
    await daemon.client.killAgent(agent.id, {});
    await waitUntil(async () => (await requestsOf(agent)).length === 0, { what: 'its card to go' });
    expect((await daemon.client.showApproval(id)).approval).toMatchObject({ end: 'withdrawn', decision: null });
  });

  test('that is allowed always is not asked again in the project, and another command is', async () => {
    const first = await asking([{ permit: { name: 'Bash', input: { command: 'npm run lint' } } }]);
    const request = await requestOf(first);
    expect(request.choices.map(({ option }) => option)).toEqual([
      '--allow',
      '--session',
      '--agent',
      '--always',
      '--deny "why"',
    ]);
    expect(request.choices[3]?.does).toContain('exactly the command “npm run lint” for every agent of this project');
    await daemon.client.replyAgent(request.id, { allow: true, again: 'project' }, randomUUID());
    await daemon.ended(first.id);
    const again = await asking([{ permit: { name: 'Bash', input: { command: 'npm run lint' } } }]);
    await daemon.ended(again.id);
    expect(await outputText(daemon.client, again.id)).toContain('1 allowed, 0 denied');
    expect(await eventsOf(again.id)).toEqual(['approval.asked', 'approval.answered']);
    const other = await asking([{ permit: { name: 'Bash', input: { command: 'npm run lint; id' } } }]);
    const { id, choices } = await requestOf(other);
    expect(choices.map(({ option }) => option)).toEqual(['--allow', '--deny "why"']);
    const never = daemon.client.replyAgent(id, { allow: true, again: 'project' }, randomUUID());
    await expect(never).rejects.toThrow();
    await daemon.client.replyAgent(id, { allow: false }, randomUUID());
    await daemon.ended(other.id);
  });

  test('of a subagent names it in the inbox, in JSON and in events', async () => {
    const agent = await asking([{ permit: { ...command, owner: 'explorer' } }]);
    const { id, owner, questions } = await requestOf(agent);
    expect([owner, questions[0]?.question]).toEqual([
      'explorer',
      expect.stringContaining('asked by its subagent explorer'),
    ]);
    const { events } = await daemon.client.events({ agent: agent.id, limit: 1_000 });
    const asked = events.filter(({ type }) => type === 'approval.asked' || type === 'approval.referred');
    expect(asked.map(({ data }) => data['owner'])).toEqual(['explorer', 'explorer']);
    expect((await daemon.client.showApproval(id)).approval.owner).toBe('explorer');
    await daemon.client.replyAgent(id, { allow: true }, randomUUID());
    await daemon.ended(agent.id);
  });

  test('is answered with yes or no, and nothing else', async () => {
    const agent = await asking([{ permit: command }]);
    const { id } = await requestOf(agent);
    const words = daemon.client.replyAgent(id, { answer: 'sure' }, randomUUID());
    await expect(words).rejects.toMatchObject({ code: 'needs_input' });
    await daemon.client.replyAgent(id, { notNow: true }, randomUUID());
    await daemon.ended(agent.id);
    expect(await outputText(daemon.client, agent.id)).toContain('No person is available');
  });
});

describe('a hostile CLI', () => {
  test('that asks a thousand times at once gets an answer to each, and few reach the inbox [approvals]', async () => {
    const agent = await asking([{ permit: { ...command, times: 1_000 } }]);
    await waitUntil(async () => (await requestsOf(agent)).length === approvalLimits.openPerSession, {
      what: 'the inbox to be full',
    });
    for (const { id } of await requestsOf(agent)) await daemon.client.replyAgent(id, { allow: true }, randomUUID());
    await daemon.ended(agent.id);
    const output = await outputText(daemon.client, agent.id);
    expect(output).toContain(
      `${approvalLimits.openPerSession} allowed, ${1_000 - approvalLimits.openPerSession} denied`,
    );
    expect(output).toContain('requests of this session are waiting for an answer already');
  });

  test('that hides text behind escapes and bidirectional marks is asked, and matches no rule [approvals, faults 8.35]', async () => {
    await daemon.client.addRule({ effect: 'allow', match: 'command npm run hidden' });
    const hidden = { name: 'Bash', input: { command: 'npm run hidden\u202E\u001B[8m && id' } };
    const agent = await asking([{ permit: hidden }]);
    const { id, choices } = await requestOf(agent);
    expect(choices.map(({ option }) => option)).toEqual(['--allow', '--deny "why"']);
    await daemon.client.replyAgent(id, { allow: false }, randomUUID());
    await daemon.ended(agent.id);
  });

  test('that asks with 5 MB of detail is denied without asking [approvals]', async () => {
    const agent = await asking([{ permit: { ...command, bytes: 5 * 1024 * 1024 } }]);
    await daemon.ended(agent.id);
    expect(await outputText(daemon.client, agent.id)).toContain('the person was not asked');
    expect(await requestsOf(agent)).toEqual([]);
  });
});

describe('a deadline', () => {
  /** Short, since the daemon looks after so much real time; the clock of the test moves only when it says so. */
  const deadlineMs = 100;

  /** A child that asks, below an agent at work; its request is overdue. */
  async function overdue(policy: 'park' | 'decide') {
    let now = Date.now();
    const own = await startTestDaemon({ clock: () => now, choices: { questions: { deadlineMs, policy } } });
    own.define('chief', { kind: 'main', tools: ['*'], policy: ['Delegate'] });
    const above = await own.work(['hang'], { definition: 'chief' });
    await waitUntil(async () => (await viewOf(own.client, above.id)).activity === 'running', { what: 'it to run' });
    const scenario = await own.scenario([{ permit: command }, 'complete']);
    const body = { path: own.repository, provider: 'scripted', task: 'ask', access: 'ask' as const };
    const self = agentClient(own.home, above.id);
    const { agent } = await self.work({ ...body, options: { scenario } }, randomUUID());
    const item = async () => (await own.client.inbox()).items.find((each) => each.agent.id === agent.id);
    await waitUntil(async () => (await item()) !== undefined, { what: 'the request' });
    const request = (await item())?.id ?? '';
    now += deadlineMs;
    const told = async () =>
      (await own.client.listMail({ agent: above.id })).mails.map(({ body: text }) => text).join('\n');
    return { own, agent, request, told };
  }

  test('with the policy decide denies the request, and agent and supervisor learn that', async () => {
    const { own, agent, request, told } = await overdue('decide');
    await using daemonOfTest = own;
    await daemonOfTest.ended(agent.id);
    expect(await outputText(own.client, agent.id)).toContain('0 allowed, 1 denied: Nobody answered in time.');
    expect((await own.client.showApproval(request)).approval).toMatchObject({ end: 'expired', closedBy: 'policy' });
    expect(await told()).toContain(`${agent.alias} was denied its request, since there was no answer in time`);
    const late = own.client.replyAgent(request, { allow: true }, randomUUID());
    await expect(late).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('denied already, by the deadline') as string,
    });
  });

  test('with the policy park leaves the request open, and tells the supervisor', async () => {
    const { own, agent, request, told } = await overdue('park');
    await using daemonOfTest = own;
    await waitUntil(async () => (await told()).includes('has no answer so far'), { what: 'the supervisor to be told' });
    await daemonOfTest.client.replyAgent(request, { allow: true }, randomUUID());
    await daemonOfTest.ended(agent.id);
    expect(await outputText(own.client, agent.id)).toContain('1 allowed, 0 denied');
  });
});
