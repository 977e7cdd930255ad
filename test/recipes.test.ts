import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readWorkspace, workspaceRoot } from '../scripts/import-boundaries.ts';

const text = readFileSync(join(workspaceRoot, 'CONTRIBUTING.md'), 'utf8');
const recipes = [...text.matchAll(/^### Add an? (\w+): `([^`]+)`\n([^]*?)(?=^##|\nThe lockfile)/gm)].map(
  ([, kind = '', example = '', steps = '']) => ({ kind, example, steps: steps.trim() }),
);
/** The files that a step tells to touch are named before its first colon. */
const filesOf = (steps: string) =>
  steps
    .split('\n')
    .flatMap((step) => [...(step.split(':')[0] ?? '').matchAll(/`([^`]+\.\w+)`/g)].map(([, path = '']) => path));

/** Sources in which an example stands only because something uses it. */
const uses: Record<string, RegExp> = {
  provider:
    /^packages\/(?:bridge|core|daemon|engine|testing)\/|packages\/providers\/src\/(?:mcp|parser\/|custom-schema|command|preset\/bridged)/,
  role: /^packages\/(?:cli|protocol|schema|daemon\/src)\//,
  command: /^packages\/(?:core|daemon|mcp|protocol)\/|packages\/cli\/src\/daemon\//,
  route: /^packages\/cli\//,
  event: /queue-inbox\.ts$/,
};

test('there is a recipe for each thing that people add', () => {
  expect(recipes.map(({ kind }) => kind)).toEqual(['provider', 'role', 'command', 'route', 'event']);
});

describe.each(recipes)('the recipe for a $kind', ({ kind, example, steps }) => {
  const named = filesOf(steps);

  test('its example is in every file that it names', () => {
    expect(named.length).toBeGreaterThan(2);
    for (const path of named) expect(readFileSync(join(workspaceRoot, path), 'utf8'), path).toContain(example);
  });

  test('it names every source in which such a thing is registered', () => {
    const word = new RegExp(`(?<![\\w-])${example.replace('.', '\\.')}(?![\\w-])`);
    const sources = readWorkspace(workspaceRoot).files.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path));
    const found = sources.filter((file) => word.test(file.text)).map(({ path }) => path);
    expect(found.filter((path) => !uses[kind]?.test(path) && !steps.includes(path))).toEqual([]);
  });
});
