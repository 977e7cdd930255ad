import { parsePatch } from '@pawl/core/guard/patch';
import { expect, test } from 'vitest';

test('hunks are read by their line counts, whatever the lines look like', () => {
  const patch = [
    'diff --git a/a.sql b/a.sql',
    'index 1..2 100644',
    '--- a/a.sql',
    '+++ b/a.sql',
    '@@ -3,4 +3,4 @@ somewhere',
    ' kept',
    '--- a/a comment in SQL',
    '-diff --git a/x b/x',
    '+++ b/forged',
    '+@@ -1 +1 @@',
    ' kept',
    '\\ No newline at end of file',
    'diff --git a/b b/b',
    'old mode 100755',
    'new mode 100644',
    '',
  ].join('\n');
  expect(parsePatch(patch)).toEqual([
    {
      path: 'a.sql',
      from: 'a.sql',
      isNew: false,
      isDeleted: false,
      isBinary: false,
      added: [
        { line: 4, text: '++ b/forged' },
        { line: 5, text: '@@ -1 +1 @@' },
      ],
      removed: ['-- a/a comment in SQL', 'diff --git a/x b/x'],
    },
    { path: 'b', from: 'b', isNew: false, isDeleted: false, isBinary: false, added: [], removed: [] },
  ]);
});

test.each([
  ['diff --git a/x y b/x y\nnew file mode 100644\n--- /dev/null\n+++ b/x y\t\n@@ -0,0 +1 @@\n+a\n', 'x y', 'x y'],
  ['diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n', 'b', 'a'],
  ['diff --git "a/\\303\\244\\t\\"" "b/\\303\\244\\t\\""\nold mode 100644\nnew mode 100755\n', 'ä\t"', 'ä\t"'],
  ['diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', 'a', 'a'],
  ['diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\n', 'a.png', 'a.png'],
])('parses the name %j', (patch, path, from) => {
  expect(parsePatch(patch)).toMatchObject([{ path, from }]);
});

test.each([
  '',
  '@@ -1,99 +1,99 @@\n+a',
  'diff --git a/a b/a\n@@ -1,999999999 +1,999999999 @@\n+a',
  'diff --git "a',
  '\0\0',
])('invalid input is harmless: %j', (patch) => {
  expect(parsePatch(patch).flatMap(({ added }) => added).length).toBeLessThan(2);
});
