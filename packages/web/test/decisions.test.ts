import { expect, test } from 'vitest';
import { answerKinds, outdatedBy, retryDelayMs } from '../src/app/live-effects.ts';
import { readPatch } from '../src/changes/diff-lines.ts';
import { laterMs, nameOf, readLater, splitLater } from '../src/inbox/later.ts';
import { allowances, answersOf, refusal } from '../src/inbox/replies.ts';
import { totalUsage } from '../src/other/usage.ts';
import { linkParts } from '../src/parts/links.ts';

test('only web addresses become links; scripts, data, credentials and look-alikes stay text', () => {
  const hrefs = (text: string) => linkParts(text).flatMap(({ href }) => href ?? []);
  expect(hrefs('see https://example.org/a?b=c, or http://127.0.0.1:80.')).toEqual([
    'https://example.org/a?b=c',
    'http://127.0.0.1:80',
  ]);
  for (const text of [
    'javascript:alert(1)',
    'data:text/html,x',
    'JAVASCRIPT://x.org',
    'https://user:secret@example.org/',
    'ftp://x.org',
    '<a href="x">',
    `https://${'a'.repeat(3_000)}.org`,
  ])
    expect([text, hrefs(text)]).toEqual([text, []]);
  const text = 'a https://b.org c';
  expect(linkParts(text).map((part) => part.text)).toEqual(['a ', 'https://b.org', ' c']);
  expect(
    linkParts('<img src=x onerror=alert(1)>')
      .map((part) => part.text)
      .join(''),
  ).toBe('<img src=x onerror=alert(1)>');
});

test('an event outdates what it may change; one that is not known outdates all', () => {
  expect(outdatedBy('approval.asked')).toContain('inbox');
  expect(outdatedBy('change.merged')).toEqual(expect.arrayContaining(['changes', 'change', 'queues', 'inbox']));
  expect(outdatedBy('session.started')).not.toContain('queues');
  expect(outdatedBy('something.new')).toEqual(answerKinds);
});

test('attempts to connect come less often, up to ten seconds', () => {
  expect([0, 1, 2, 50].map(retryDelayMs)).toEqual([250, 500, 1_000, 10_000]);
});

test('a permission is allowed once or for longer, narrowest first, and refused with a reason', () => {
  const choices = ['--allow', '--session', '--always', '--deny "why"', '--new'].map((option) => ({
    option,
    does: 'x',
  }));
  expect(allowances({ choices }).map(({ body }) => body)).toEqual([
    { allow: true },
    { allow: true, again: 'session' },
    { allow: true, again: 'project' },
  ]);
  expect(refusal('  ')).toEqual({ allow: false });
  expect(refusal(' use the trash ')).toEqual({ allow: false, answer: 'use the trash' });
});

test('questions are sent together, when all are answered', () => {
  const questions = [
    { id: 'a', question: '?', leftOutBytes: 0 },
    { id: 'b', question: '?', leftOutBytes: 0 },
  ];
  expect(answersOf({ kind: 'questions', questions }, { a: 'yes' })).toBeNull();
  expect(answersOf({ kind: 'questions', questions }, { a: 'yes', b: ' no ' })).toEqual({
    answers: { a: 'yes', b: 'no' },
  });
  expect(answersOf({ kind: 'question', questions: questions.slice(0, 1) }, { a: 'yes' })).toEqual({ answer: 'yes' });
});

test('what is put aside comes back after an hour, or when it is asked anew', () => {
  const entry = (since: number) =>
    ({
      kind: 'question',
      id: 'q',
      since,
      agent: null,
      project: null,
      changes: [],
      text: '',
      detail: '',
      next: [],
    }) as const;
  const entries = [{ ...entry(1), changes: [], next: [] }];
  const later = { [nameOf(entry(1))]: 100 + laterMs };
  expect(splitLater(entries, later, 100).later).toHaveLength(1);
  expect(splitLater(entries, later, 101 + laterMs).now).toHaveLength(1);
  expect(splitLater([{ ...entry(2), changes: [], next: [] }], later, 100).now).toHaveLength(1);
  expect(readLater('{"a":5,"b":"x","c":50}', 10)).toEqual({ c: 50 });
  for (const text of [null, '', 'null', '[', '7']) expect(readLater(text, 0)).toEqual({});
});

test('a patch becomes files with numbered lines; text before the first file is nobody’s', () => {
  const patch = [
    'noise',
    'diff --git a/x.ts b/x y.ts',
    'index 1..2 100644',
    '--- a/x.ts',
    '+++ b/x y.ts',
    '@@ -3,2 +3,3 @@ fn',
    ' same',
    '-old',
    '+++new',
    '+more',
    '\\ No newline at end of file',
    'diff --git a/b.png b/b.png',
    'Binary files differ',
    '',
  ].join('\n');
  const [text, binary] = readPatch(patch);
  expect(text?.path).toBe('x y.ts');
  expect(text?.lines.map(({ kind, text: shown, old, new: fresh }) => [kind, shown, old, fresh])).toEqual([
    ['hunk', '@@ -3,2 +3,3 @@ fn', null, null],
    ['same', 'same', 3, 3],
    ['removed', 'old', 4, null],
    ['added', '++new', null, 4],
    ['added', 'more', null, 5],
    ['note', 'No newline at end of file', null, null],
  ]);
  expect(binary).toEqual({
    path: 'b.png',
    lines: [{ kind: 'note', text: 'Binary files differ', old: null, new: null }],
  });
});

test('usage adds up what is known, and says what is not', () => {
  expect(totalUsage([{ cost: { usd: 1.5, tokens: 1_000 } }, { cost: { usd: null, tokens: 500 } }])).toBe(
    '1.5k tokens · $1.50 · 1 agent without a price',
  );
});
