import { applyItems, changesBetween } from '@pawl/core/plan/apply-items';
import { checkItems } from '@pawl/core/plan/check-items';
import type { OutputContext } from '@pawl/core/plan/output-file';
import { isPlanningMode, readPlanOutput } from '@pawl/core/plan/output-file';
import { loadReadYaml } from '@pawl/daemon/definitions/read-yaml';
import type { PlanContent } from '@pawl/schema/plan/plan';
import { workModes } from '@pawl/schema/record';
import { describe, expect, test } from 'vitest';
import { aContent, aPhase, aTask, wordId as idOf } from '@pawl/testing/plan-records';

const readYaml = await loadReadYaml();

function read(files: Record<string, string>, given: Partial<OutputContext> = {}) {
  return readPlanOutput(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    {
      mode: 'plan',
      isDone: true,
      content: aContent(),
      outside: new Map(),
      phaseId: null,
      readYaml,
      newId: idOf('joined'),
      ...given,
    },
  );
}

/** An output file named by its id. */
function file(folder: string, name: string, fields: string, text = 'text'): Record<string, string> {
  return { [`${folder}/${idOf(name)}.md`]: `---\nid: ${idOf(name)}\n${fields}\n---\n${text}\n` };
}

test('the planning modes are those that leave records [S3-86]', () => {
  expect(workModes.filter(isPlanningMode)).toEqual(['discuss', 'plan', 'detail', 'refine', 'refine-chat']);
});

describe('output files', () => {
  test('of each mode become items of their kind [S3-10]', () => {
    const discuss = read(file('decisions', 'd', 'topic: store\ndecision: SQLite: one file'), { mode: 'discuss' });
    expect(discuss).toMatchObject({
      complaints: [],
      items: [{ kind: 'decision', action: 'create', name: 'store', decision: 'SQLite: one file', text: 'text' }],
    });
    const detail = read(
      file('tasks', 't', `name: write it\ndependencies: [${idOf('old')}]\nfiles: [src/a.ts]\npriority: high`),
      { mode: 'detail', phaseId: idOf('p'), content: aContent({ phases: [aPhase('p')], tasks: [aTask('old')] }) },
    );
    expect(detail.complaints).toEqual([]);
    expect(detail.items).toMatchObject([
      { kind: 'task', parentId: idOf('p'), dependsOn: [idOf('old')], files: ['src/a.ts'], priority: 'high' },
    ]);
    const refine = read(file('pages', 'w', 'title: Wish\nsummary: shorter'), { mode: 'refine' });
    expect(refine.items).toMatchObject([{ kind: 'page', name: 'Wish' }]);
  });

  test.each([
    ['no front matter', { [`phases/${idOf('a')}.md`]: 'text' }, 'does not start with a `---` line'],
    ['broken YAML', file('phases', 'a', 'name: [x'), 'not YAML'],
    ['an id that is none', { 'phases/a.md': '---\nid: a\nname: x\n---\n' }, '22 characters'],
    ['another file name', { 'phases/x.md': `---\nid: ${idOf('a')}\nname: x\n---\n` }, `${idOf('a')}.md`],
    ['an unknown field', file('phases', 'a', 'name: x\nsize: 3'), 'there is no field "size"'],
    ['an action outside of a chat', file('phases', 'a', 'name: x\naction: delete'), 'there is no field "action"'],
    ['a wrong type', file('phases', 'a', 'name: x\nfiles: 3'), 'files:'],
    ['a foreign folder', file('tasks', 'a', 'name: x'), '.pawl/output/phases/'],
    ['no name', file('phases', 'a', 'files: []'), 'has no name'],
    ['an unknown dependency', file('phases', 'a', `name: x\ndependencies: [${idOf('gone')}]`), 'which is no phase'],
    ['no file at all', {}, 'There is no file in .pawl/output/phases/'],
  ])('with %s are reported to the agent', (_, files, complaint) => {
    expect(read(files).complaints.join('\n')).toContain(complaint);
  });

  test('with a cycle, or names that differ only in spelling, are reported', () => {
    const cycle = read({
      ...file('phases', 'a', `name: x\ndependencies: [${idOf('b')}]`),
      ...file('phases', 'b', `name: y\ndependencies: [${idOf('a')}]`),
    });
    expect(cycle.complaints).toEqual(['These wait for each other: the phase x → the phase y → the phase x.']);
    const content = aContent({ phases: [aPhase('old', { name: 'Write  It' })] });
    const double = read(file('phases', 'a', `name: write it\ndependencies: [${idOf('old')}]`), { content });
    expect(double.complaints[0]).toContain('2 phases have the name');
  });

  test('that repeat what is there propose nothing; changed ones are updates; started tasks stay', () => {
    const content = aContent({ phases: [aPhase('a', { text: 'text' })] });
    expect(read(file('phases', 'a', 'name: a'), { content })).toEqual({ items: [], complaints: [] });
    expect(read(file('phases', 'a', 'name: a', 'more'), { content }).items).toMatchObject([{ action: 'update' }]);
    const started = aContent({ tasks: [aTask('t', { agentId: idOf('agent') })] });
    const changed = read(file('tasks', 't', 'name: other'), { mode: 'detail', content: started });
    expect(changed.complaints[0]).toContain('has started');
  });

  test('of a chat need an action, which fits the record [S3-10]', () => {
    const content = aContent({ phases: [aPhase('a'), aPhase('b', { dependsOn: [idOf('a')] })] });
    const chat = (files: Record<string, string>) => read(files, { mode: 'refine-chat', content });
    expect(chat(file('phases', 'a', 'name: a')).complaints[0]).toContain('action is missing');
    expect(chat(file('phases', 'a', 'name: a\naction: create')).complaints[0]).toContain('its action is update');
    expect(chat(file('phases', 'c', 'name: c\naction: delete')).complaints[0]).toContain('its action is create');
    expect(chat(file('phases', 'a', 'action: delete')).complaints[0]).toContain('which is no phase');
    const both = chat({
      ...file('phases', 'a', 'action: delete'),
      ...file('phases', 'b', 'name: b\naction: update'),
      ...file('pages', 'w', 'title: Why\naction: create'),
    });
    expect(both.complaints).toEqual([]);
    expect(both.items.map(({ action, kind }) => `${action} ${kind}`).toSorted()).toEqual([
      'create page',
      'delete phase',
      'update phase',
    ]);
  });

  test('several last phases get one that joins them, one gets none [planner 22]', () => {
    const two = read({ ...file('phases', 'a', 'name: x'), ...file('phases', 'b', 'name: y') });
    expect(two.items.at(-1)).toMatchObject({
      id: idOf('joined'),
      isIntegration: true,
      dependsOn: [idOf('a'), idOf('b')],
    });
    const chain = read({
      ...file('phases', 'a', 'name: x'),
      ...file('phases', 'b', `name: y\ndependencies: [${idOf('a')}]`),
    });
    expect(chain.items.filter(({ isIntegration }) => isIntegration)).toEqual([]);
  });
});

describe('items', () => {
  const place = { initiativeId: idOf('plan'), projectId: idOf('project'), now: 5, createdBy: null };

  test('change exactly their records, and the name of a phase on its tasks', () => {
    const before: PlanContent = aContent({
      phases: [aPhase('p')],
      tasks: [aTask('t', { phaseId: idOf('p'), phase: 'p' }), aTask('u')],
    });
    const { items } = read(file('phases', 'p', 'name: new name', ''), { content: before });
    const after = applyItems(before, items, place);
    expect(changesBetween(before, after).map(({ kind, id }) => [kind, id])).toEqual([
      ['phase', idOf('p')],
      ['task', idOf('t')],
    ]);
    expect(after.tasks[0]?.phase).toBe('new name');
    expect(changesBetween(before, before)).toEqual([]);
  });

  test('with one id twice, or the id of another kind, are refused', () => {
    const { items } = read({ ...file('phases', 'a', 'name: x') });
    expect(checkItems(aContent(), [...items, ...items], new Map())[0]).toContain('used 2 times');
    expect(checkItems(aContent({ tasks: [aTask('a')] }), items, new Map())[0]).toContain('belongs to a task');
  });
});
