import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layoutOf } from '../../src/anchor/anchor-file.ts';
import { anchorPath, idIn, isHelper, olderLayout, ownLayout, safeId } from '../../src/anchor/anchor-path.ts';

test.each([
  [null, '.pawl/session-context.md'],
  ['helper-ab12', '.pawl/session-context.d/helper-ab12.md'],
  ['host.project.claude.1763251200', '.pawl/session-context.d/host.project.claude.1763251200.md'],
  ['../../etc/passwd', '.pawl/session-context.d/.._.._etc_passwd.md'],
  ['a b\nc;$(x)', '.pawl/session-context.d/a_b_c___x_.md'],
  ['..', '.pawl/session-context.d/...md'],
  ['ü', '.pawl/session-context.d/_.md'],
])('the id %j has its notes in %s [W0-04, S0-13, S0-24]', (id, path) => {
  expect(anchorPath(ownLayout, id)).toBe(path);
  expect(anchorPath(ownLayout, id)).toBe(anchorPath(ownLayout, id));
});

test('the older layout has its own names [W0-04]', () => {
  expect(anchorPath(olderLayout, null)).toBe('.ai/session-context.org');
  expect(anchorPath(olderLayout, 'helper-ab12')).toBe('.ai/session-context.d/helper-ab12.org');
});

test('a long id is still a file’s name', () => {
  expect(safeId('x'.repeat(500)).length).toBeLessThan(200);
});

test.each([
  [{}, null, false],
  [{ PAWL_AGENT_ID: '' }, null, false],
  [{ PAWL_AGENT_ID: 'a', AI_AGENT_ID: 'b' }, 'a', false],
  [{ AI_AGENT_ID: 'b' }, 'b', false],
  [{ PAWL_AGENT_ID: 'helper-ab12' }, 'helper-ab12', true],
  [{ PAWL_AGENT_ID: 'x', PAWL_HELPER: '1' }, 'x', true],
  [{ AI_AGENT_ID: 'x', AI_HELPER: '1' }, 'x', true],
  [{ PAWL_AGENT_ID: 'x', PAWL_HELPER: '0' }, 'x', false],
])('%j is %s, a helper: %s [S0-18]', (environment, id, helper) => {
  expect(idIn(environment)).toBe(id);
  expect(isHelper(environment)).toBe(helper);
});

test('the older layout counts where its files are, and ours are not [section 0]', async () => {
  await using place = await temporaryDirectory();
  expect(layoutOf(place.path)).toBe(ownLayout);
  mkdirSync(join(place.path, '.ai', 'sessions'), { recursive: true });
  expect(layoutOf(place.path)).toBe(ownLayout);
  writeFileSync(join(place.path, '.ai', 'session-context.org'), 'notes');
  expect(layoutOf(place.path)).toBe(olderLayout);
  mkdirSync(join(place.path, '.pawl'));
  expect(layoutOf(place.path)).toBe(olderLayout);
  writeFileSync(join(place.path, '.pawl', 'session-context.md'), 'notes');
  expect(layoutOf(place.path)).toBe(ownLayout);
});
