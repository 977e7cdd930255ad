import { eventData } from '@pawl/schema/event';
import { agentSchema, messageKinds, noBudget, runSchema } from '@pawl/schema/record';
import { describe, expect, test } from 'vitest';
import type { ForkRequest } from '../../src/agents/fork.ts';
import { nothingInherited, planFork, refuseParent } from '../../src/agents/fork.ts';
import { aDefinition } from '../definitions/fixture.ts';
import { aPreset, aProject, anAgent, idOf } from '../fixture.ts';

const parent = anAgent({ id: idOf('parent'), alias: 'old-owl' });

/** A complete fork request, with overrides. */
function aRequest(given: Partial<ForkRequest> = {}): ForkRequest {
  return {
    parent,
    inherits: { messageId: 41, conversation: 'parents-own-id' },
    definition: aDefinition({ id: 'worker', class: 'ephemeral', prompt: 'Be brief.' }),
    project: aProject,
    preset: aPreset(),
    model: 'large',
    options: { scenario: 'a.yaml' },
    mode: 'execute',
    accountId: null,
    environment: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
    budget: noBudget,
    access: 'full',
    accessNeeds: null,
    taskId: null,
    assignment: null,
    alias: 'calm-fox',
    baseCommit: 'c0ffee',
    worktree: '/worktrees/calm-fox',
    snapshot: 'f00d',
    task: 'fix it\nand test it',
    parentRunId: null,
    ids: { agent: idOf('child'), run: idOf('new-run') },
    now: 77,
    ...given,
  };
}

describe('the rows of a fork', () => {
  test('the child records its parent and fork point, and is complete [S1-13, S1-17]', () => {
    const { agent } = planFork(aRequest());
    expect(agentSchema.parse(agent)).toEqual({
      id: idOf('child'),
      alias: 'calm-fox',
      projectId: aProject.id,
      parentId: parent.id,
      supervisorId: parent.id,
      forkMessageId: 41,
      forkedConversation: 'parents-own-id',
      snapshot: 'f00d',
      freshAfter: 0,
      definition: 'worker',
      kind: 'main',
      class: 'ephemeral',
      provider: 'example',
      model: 'large',
      options: { scenario: 'a.yaml' },
      mode: 'execute',
      accountId: null,
      environment: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
      budget: noBudget,
      access: 'full',
      accessNeeds: null,
      keyProxy: null,
      workdir: null,
      taskId: null,
      assignment: null,
      branch: 'work/calm-fox',
      baseCommit: 'c0ffee',
      worktree: '/worktrees/calm-fox',
      worktreeReadyAt: null,
      worktreeEnd: null,
      createdAt: 77,
      stopRequestedAt: null,
      completion: null,
      adopted: null,
      stuckAt: null,
      stuckReason: null,
      endedAt: null,
      endReason: null,
      reapedAt: null,
    });
  });

  test('a prompt starts a run with the current definition [S1-14]', () => {
    const { run, agent } = planFork(aRequest());
    expect(runSchema.parse(run)).toEqual({
      id: idOf('new-run'),
      projectId: aProject.id,
      agentId: agent.id,
      agentKind: 'main',
      parentRunId: null,
      task: 'fix it\nand test it',
      definition: aDefinition({ id: 'worker', class: 'ephemeral', prompt: 'Be brief.' }),
      startedAt: 77,
      endedAt: null,
      outcome: null,
      detail: null,
      questions: null,
      resultBefore: null,
      waitUntil: null,
      waitFor: null,
      repoPath: aProject.root,
      sessionId: 'default',
      cause: null,
    });
  });

  test('without a prompt there is no run, first message or run event [S1-13]', () => {
    const { run, messages, events } = planFork(aRequest({ task: null }));
    expect(run).toBeNull();
    expect(messages.map(({ kind }) => kind)).toEqual(['fork', 'fork']);
    expect(events.map(({ type }) => type)).toEqual(['agent.forked']);
  });

  test('fork + exec inherits nothing: neither messages nor a conversation [7.1]', () => {
    const { agent, messages, events } = planFork(aRequest({ inherits: nothingInherited, snapshot: null }));
    expect(agent).toMatchObject({ parentId: parent.id, forkMessageId: 0, forkedConversation: null, snapshot: null });
    expect(messages.slice(0, 2).map(({ data }) => data?.['forkMessageId'])).toEqual([0, 0]);
    expect(events[0]?.data).toMatchObject({ forkMessageId: 0 });
  });

  test('a subagent takes its kind from its definition, and its run belongs to the run that started it [7.1]', () => {
    const definition = aDefinition({ kind: 'subagent', class: 'ephemeral' });
    const { agent, run } = planFork(aRequest({ definition, parentRunId: idOf('outer-run') }));
    expect(agent.kind).toBe('subagent');
    expect(run).toMatchObject({ agentKind: 'subagent', parentRunId: idOf('outer-run') });
  });

  test('a forked agent may fork again, to any depth [7.2]', () => {
    let last = parent;
    for (let depth = 0; depth < 300; depth++) {
      last = planFork(aRequest({ parent: last, ids: { agent: idOf(`child-${depth}`), run: idOf('run') } })).agent;
    }
    expect(last.parentId).toBe(idOf('child-298'));
  });
});

describe('the messages of a fork', () => {
  test('one note in each of the two histories, each naming the other side [W1-07, 8.1]', () => {
    const { messages, agent } = planFork(aRequest());
    const notes = messages.filter(({ kind }) => kind === 'fork');
    expect(notes.map(({ agentId, data }) => ({ agentId, data }))).toEqual([
      { agentId: parent.id, data: { childId: agent.id, forkMessageId: 41, role: 'parent' } },
      { agentId: agent.id, data: { parentId: parent.id, forkMessageId: 41, role: 'child' } },
    ]);
    expect(notes.map(({ content }) => content)).toEqual(['forked calm-fox', 'forked off old-owl']);
    expect(notes.map(({ runId }) => runId)).toEqual([null, null]);
  });

  test('the prompt is the first conversation message of the child, and of nobody else [S1-14]', () => {
    const { messages, agent, run } = planFork(aRequest());
    expect(messages[2]).toEqual({
      agentId: agent.id,
      runId: run?.id,
      kind: 'user',
      content: 'fix it\nand test it',
      data: null,
    });
    expect(messages).toHaveLength(3);
  });

  test('the written rows do not grow with the inherited history [W1-07]', () => {
    const small = planFork(aRequest({ inherits: { messageId: 1, conversation: null } }));
    const large = planFork(aRequest({ inherits: { messageId: 10_000_000, conversation: null } }));
    expect(large.messages).toHaveLength(small.messages.length);
    expect(large.events).toHaveLength(small.events.length);
    for (const { kind } of large.messages) expect(messageKinds).toContain(kind);
  });
});

describe('the events of a fork', () => {
  test('one per row, about the child, with only the first line of the task', () => {
    const { events, agent } = planFork(aRequest());
    for (const event of events) {
      expect(event).toMatchObject({ projectId: aProject.id, agentId: agent.id });
      expect(eventData[event.type].safeParse(event.data).error).toBeUndefined();
    }
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'agent.forked',
        data: {
          alias: 'calm-fox',
          parentId: parent.id,
          definition: 'worker',
          provider: 'example',
          branch: 'work/calm-fox',
          forkMessageId: 41,
        },
      },
      { type: 'run.started', data: { task: 'fix it' } },
    ]);
  });

  test('a task of one long line is cut in its event and whole in its message', () => {
    const task = 'x'.repeat(100_000);
    const { events, messages } = planFork(aRequest({ task }));
    expect(events[1]?.data).toEqual({ task: `${'x'.repeat(199)}…` });
    expect(messages[2]?.content).toBe(task);
  });
});

describe('refused parents', () => {
  test.each([
    ['7.2: a subagent', anAgent({ kind: 'subagent' }), 'forbidden'],
    ['S1-31: one that is dead', anAgent({ endedAt: 9 }), 'conflict'],
    ['a subagent that is dead', anAgent({ kind: 'subagent', endedAt: 9 }), 'forbidden'],
    ['one that died at the beginning of time', anAgent({ endedAt: 0 }), 'conflict'],
  ])('%s, with a prompt and without', (_name, refused, code) => {
    const error = expect.objectContaining({ code, hint: expect.stringMatching(/\S/) as string }) as Error;
    expect(() => refuseParent(refused)).toThrow(error);
    for (const task of ['do it', null]) expect(() => planFork(aRequest({ parent: refused, task }))).toThrow(error);
  });

  test.each([
    ['agent 0', anAgent({ parentId: null, worktree: null })],
    ['one that is being stopped', anAgent({ stopRequestedAt: 8 })],
    ['one without a worktree yet', anAgent({ worktreeReadyAt: null })],
  ])('%s may fork', (_name, allowed) => {
    expect(() => refuseParent(allowed)).not.toThrow();
    expect(planFork(aRequest({ parent: allowed })).agent.parentId).toBe(allowed.id);
  });
});
