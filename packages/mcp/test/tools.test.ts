import { expect, test } from 'vitest';
import * as z from 'zod';
import { toolsFor } from '../src/tools.ts';

const verbs = [
  'whoami',
  'agents',
  'fork',
  'work',
  'delegate',
  'delegate_result',
  'roster',
  'send',
  'mail',
  'ask',
  'answer',
  'listen',
  'approval_list',
  'approval_answer',
  'task_add',
  'complete',
  'proposal_list',
  'proposal_accept',
  'proposal_dismiss',
  'lock',
  'unlock',
  'change_open',
  'change_list',
  'change_show',
  'change_comment',
];

test('an agent has every verb, and a person’s program has read-only ones and send', () => {
  expect(toolsFor('agent').map(({ name }) => name)).toEqual(verbs);
  expect(toolsFor('person').map(({ name }) => name)).toEqual([
    'whoami',
    'agents',
    'roster',
    'send',
    'mail',
    'change_list',
    'change_show',
  ]);
});

test.each(toolsFor('agent').map((tool) => [tool.name, tool] as const))(
  '%s tells a model when to use it, and refuses unknown arguments',
  (_name, { description, input }) => {
    expect(description).toMatch(/\bUse it|it (lists|waits|makes)|Answers a question/i);
    expect(description.length).toBeLessThan(700);
    const schema = z.toJSONSchema(input, { io: 'input' });
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    for (const property of Object.values(schema.properties ?? {})) expect(property).toHaveProperty('description');
  },
);

test('every tool that shows others’ text says that it carries no authority', () => {
  for (const name of ['send', 'mail', 'ask', 'change_list', 'change_show'])
    expect(toolsFor('agent').find((tool) => tool.name === name)?.description).toContain('authority of the user');
});
