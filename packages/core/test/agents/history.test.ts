import type { Message } from '@pawl/schema/record';
import { conversationKinds, messageKinds } from '@pawl/schema/record';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversationOf, findMark, openToolsIn, remembered, toolIdOf } from '../../src/agents/history.ts';
import { aMessage } from '../fixture.ts';

/** Messages in order, numbered 10, 20, 30…, so that ids have gaps as in a shared table. */
function history(...given: Partial<Message>[]): Message[] {
  return given.map((message, index) => aMessage({ id: (index + 1) * 10, ...message }));
}
const says = (content: string): Partial<Message> => ({ content });
const mark = (content = ''): Partial<Message> => ({ kind: 'mark', content });
const rewind = (to: unknown): Partial<Message> => ({ kind: 'rewind', content: '', data: { to } });
const ids = (messages: Message[]) => messages.map(({ id }) => id);

describe('remembered messages', () => {
  test.each<[string, Message[], number[]]>([
    ['nothing', [], []],
    ['all of it, without a rewind', history(says('a'), mark(), says('b')), [10, 20, 30]],
    [
      'nothing between the mark and the rewind',
      history(says('a'), mark(), says('b'), says('c'), rewind(20)),
      [10, 20, 50],
    ],
    ['what came after the rewind', history(mark(), says('a'), rewind(10), says('b')), [10, 30, 40]],
    ['the same mark twice', history(mark(), says('a'), rewind(10), says('b'), rewind(10), says('c')), [10, 50, 60]],
    ['a rewind that goes back behind another', history(mark(), mark(), says('a'), rewind(20), rewind(10)), [10, 50]],
    ['a rewind to before everything', history(says('a'), says('b'), rewind(5), says('c')), [30, 40]],
    ['a rewind to between two ids', history(says('a'), says('b'), says('c'), rewind(25)), [10, 20, 40]],
    ['a rewind without a place to go back to', history(says('a'), { kind: 'rewind', data: null }), [10, 20]],
    ['a rewind to what is no id', history(says('a'), says('b'), rewind('10'), rewind(null)), [10, 20, 30, 40]],
    ['a message of another kind with the same data', history(says('a'), says('b'), { data: { to: 10 } }), [10, 20, 30]],
  ])('%s', (_name, given, expected) => {
    expect(ids(remembered(given))).toEqual(expected);
  });

  test('a rewind in a child may reach into inherited messages, and reading changes nothing', () => {
    const given = history({ agentId: 'p' }, { agentId: 'p', ...mark() }, { agentId: 'p' }, says('own'), rewind(20));
    const before = structuredClone(given);
    expect(ids(remembered(given))).toEqual([10, 20, 50]);
    expect(given).toEqual(before);
  });

  test('rewinding equals a model that copies everything at each mark and restores the copy', () => {
    const act = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ do: 'say' } as const) },
      { weight: 2, arbitrary: fc.constant({ do: 'mark' } as const) },
      { weight: 2, arbitrary: fc.nat().map((which) => ({ do: 'rewind', which }) as const) },
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (acts, gap) => {
        const written: Message[] = [];
        let model: Message[] = [];
        let copies = new Map<number, Message[]>();
        for (const [index, each] of acts.entries()) {
          const id = (index + 1) * gap;
          const marks = [...copies.keys()];
          if (each.do === 'rewind') {
            if (marks.length === 0) continue;
            const to = marks[each.which % marks.length] ?? 0;
            written.push(aMessage({ id, kind: 'rewind', data: { to } }));
            model = [...(copies.get(to) ?? []), written.at(-1) as Message];
            copies = new Map([...copies].filter(([at]) => at <= to));
            continue;
          }
          written.push(aMessage({ id, kind: each.do === 'mark' ? 'mark' : 'user' }));
          model = [...model, written.at(-1) as Message];
          if (each.do === 'mark') copies.set(id, model);
        }
        expect(remembered(written)).toEqual(model);
        // The model's marks are those that a person can rewind to.
        expect(
          remembered(written)
            .filter(({ kind }) => kind === 'mark')
            .map(({ id }) => id),
        ).toEqual([...copies.keys()]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the conversation that a model sees [W1-17]', () => {
  test('the kinds of a conversation and no others', () => {
    const given = history(...messageKinds.toReversed().map((kind) => ({ kind })));
    expect(conversationOf(given).map(({ kind }) => kind)).toEqual([...conversationKinds].toReversed());
    expect([...conversationKinds]).toEqual(['system', 'user', 'assistant', 'tool_call', 'tool_result', 'summary']);
    const notes = messageKinds.filter((kind) => !(conversationKinds as readonly string[]).includes(kind));
    expect(notes).toEqual(['clear', 'mark', 'rewind', 'fork', 'agent_killed', 'command']);
  });

  test('nothing that was rewound', () => {
    const given = history(says('a'), mark(), says('b'), rewind(20), says('c'));
    expect(conversationOf(given).map(({ content }) => content)).toEqual(['a', 'c']);
  });
});

describe('a summary [7.20]', () => {
  const summary: Partial<Message> = { kind: 'summary', content: 'in short' };
  const contents = (messages: Message[]) => conversationOf(messages).map(({ content }) => content);

  test('stands for everything before it', () => {
    expect(contents(history(says('a'), summary, says('b')))).toEqual(['in short', 'b']);
    expect(contents(history(summary, says('a'), { ...summary, content: 'shorter' }))).toEqual(['shorter']);
  });

  test('does not, once the agent was rewound to a mark before it', () => {
    expect(contents(history(says('a'), mark(), says('b'), summary, rewind(20), says('c')))).toEqual(['a', 'c']);
  });
});

describe('finding a mark', () => {
  const given = history(mark('one'), mark('two'), mark('one'), says('one'), mark('three'), rewind(40));

  test.each<[string, string | null, number]>([
    ['without a label the latest', null, 30],
    ['with one the latest of that label', 'one', 30],
    ['an older one', 'two', 20],
  ])('%s', (_name, label, id) => {
    expect(findMark(given, label).id).toBe(id);
  });

  test('the empty label is a label', () => {
    expect(findMark(history(mark(''), mark('x')), '').id).toBe(10);
  });

  test.each<[string, Message[], string | null, string]>([
    ['none at all', history(says('a')), null, 'There is no mark to rewind to.'],
    ['an unknown label', given, 'four', 'There is no mark "four".'],
    ['one that was rewound', given, 'three', 'There is no mark "three".'],
    ['a part of a label', given, 'on', 'There is no mark "on".'],
    ['a label with a line break in it', given, 'a\nb', 'There is no mark "a\\nb".'],
  ])('is not found: %s', (_name, messages, label, message) => {
    const hint = expect.stringContaining('pawl mark') as string;
    expect(() => findMark(messages, label)).toThrow(
      expect.objectContaining({ code: 'not_found', message, hint }) as Error,
    );
  });
});

describe('running tools [3.2.4]', () => {
  const call = (toolId: string): Partial<Message> => ({
    kind: 'tool_call',
    content: `run ${toolId}`,
    data: { toolId },
  });
  const result = (toolId: string): Partial<Message> => ({ kind: 'tool_result', content: 'ok', data: { toolId } });

  test.each<[string, Message[], string[], number | null]>([
    ['none were called', [], [], null],
    ['one runs', history(call('A')), ['A'], 10],
    ['one has ended', history(call('A'), result('A')), [], null],
    ['the second of two in a row runs', history(call('A'), result('A'), call('B')), ['B'], 30],
    ['both of two at once', history(call('A'), call('B')), ['A', 'B'], 10],
    ['A and B at once, A has ended: still since A', history(call('A'), call('B'), result('A')), ['B'], 10],
    ['A and B at once, B has ended', history(call('A'), call('B'), result('B')), ['A'], 10],
    ['A and B at once, both have ended', history(call('A'), call('B'), result('B'), result('A')), [], null],
    ['a chain in which one always ran', history(call('A'), call('B'), result('A'), call('C'), result('B')), ['C'], 10],
    ['a new one after all had ended', history(call('A'), call('B'), result('A'), result('B'), call('C')), ['C'], 50],
    ['a result that nobody called for', history(result('X'), call('A'), result('Y')), ['A'], 20],
    ['the same call told twice', history(call('A'), call('A'), result('A')), [], null],
  ])('%s', (_name, tools, open, since) => {
    const found = openToolsIn(tools);
    expect([...found.open.keys()]).toEqual(open);
    expect(found.since).toBe(since);
  });

  test('each is listed by its tool name', () => {
    const named = (id: number, name: string) => aMessage({ id, kind: 'tool_call', data: { toolId: `${id}`, name } });
    expect([...openToolsIn([named(1, 'Bash'), named(2, 'Read')]).open.values()]).toEqual(['Bash', 'Read']);
    expect([...openToolsIn(history(call('A'))).open.values()]).toEqual(['a tool']);
  });

  test('a conversation has no call without its result, and no result without its call', () => {
    const kept = conversationOf(history(call('A'), result('A'), call('B'), result('C')));
    expect(kept.map(({ kind, data }) => [kind, data?.['toolId']])).toEqual([
      ['tool_call', 'A'],
      ['tool_result', 'A'],
    ]);
  });

  test('the point never separates a call from its result', () => {
    const act = fc.record({ tool: fc.constantFrom('A', 'B', 'C'), ends: fc.boolean() });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const tools = history(...acts.map(({ tool, ends }) => (ends ? result(tool) : call(tool))));
        const { open, since } = openToolsIn(tools);
        const before = tools.filter(({ id }) => since === null || id < since);
        expect(openToolsIn(before).open.size).toBe(0);
        expect(since === null).toBe(open.size === 0);
        // It is as late as possible: the next message is a call that is not answered in time.
        if (since !== null) expect(tools[before.length]?.kind).toBe('tool_call');
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, Message['data'], string]>([
    ['an id', { toolId: 't1' }, 't1'],
    ['no data', null, ''],
    ['no id', { name: 'Bash' }, ''],
    ['an id that is no text', { toolId: 7 }, ''],
  ])('the id of a message with %s', (_name, data, id) => {
    expect(toolIdOf({ data })).toBe(id);
  });
});
