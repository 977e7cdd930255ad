import { eventData } from '@pawl/schema/event';
import { runSchema } from '@pawl/schema/record';
import { expect, test } from 'vitest';
import { runOf } from '../../src/sessions/run.ts';
import { aDefinition } from '../definitions/fixture.ts';
import { aProject, anAgent, idOf } from '../fixture.ts';

const begin = { id: idOf('new-run'), project: aProject, task: 'test it\nall', definition: aDefinition(), now: 77 };

test('a new run is its row, its message and its event, and they agree', () => {
  const agent = anAgent({ kind: 'subagent' });
  const { run, message, event } = runOf(agent, begin, idOf('outer-run'));
  expect(runSchema.parse(run)).toMatchObject({
    id: begin.id,
    agentId: agent.id,
    agentKind: 'subagent',
    parentRunId: idOf('outer-run'),
    definition: aDefinition(),
    startedAt: 77,
    repoPath: aProject.root,
    sessionId: 'default',
    outcome: null,
  });
  expect(message).toEqual({ agentId: agent.id, runId: run.id, kind: 'user', content: 'test it\nall', data: null });
  expect(event).toEqual({
    type: 'run.started',
    projectId: aProject.id,
    agentId: agent.id,
    data: { task: 'test it' },
  });
  expect(eventData['run.started'].safeParse(event.data).error).toBeUndefined();
});

test('a run that no run started has no parent', () => {
  expect(runOf(anAgent(), begin).run.parentRunId).toBeNull();
});
