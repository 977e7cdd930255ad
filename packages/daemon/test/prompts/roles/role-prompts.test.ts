import { programs } from '@pawl/protocol/node/programs';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Role } from './golden.ts';
import { goldenPath, promptOfRole, roles } from './golden.ts';

const howTo = 'if this is meant: node packages/daemon/test/prompts/roles/golden.ts, and read the diff';
const lasting: readonly Role[] = ['supervisor', 'merge-queue', 'workspace'];

test('every built-in definition but the helper has a golden prompt [S4-19]', () => {
  const names = readdirSync(programs.builtInDefinitions).map((name) => name.replace('.md', ''));
  expect(names.toSorted()).toEqual([...roles, 'helper-mode'].toSorted());
});

describe.each(roles)('the prompt of %s', (role) => {
  test('matches its golden file [S4-21]', async () => {
    const kept = existsSync(goldenPath(role)) ? readFileSync(goldenPath(role), 'utf8') : '';
    expect((await promptOfRole(role)).whole, howTo).toBe(kept);
  });

  test('has role, commands and custom text in this order, the custom text appended [S4-20, S4-21]', async () => {
    const { whole } = await promptOfRole(role);
    const own = readFileSync(`${programs.builtInDefinitions}/${role}.md`, 'utf8').split('\n---\n')[1]?.trim() ?? '';
    const places = [own, '<pawl_commands>', `This repository's own text for the ${role}.`].map((text) =>
      whole.indexOf(text),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(whole.startsWith('<role>\n')).toBe(true);
  });
});

test.each(lasting)(
  'does not tell %s that it is an engineer who commits and signals [S4-03, S4-05, S4-11]',
  async (role) => {
    const { whole } = await promptOfRole(role);
    const own = readFileSync(`${programs.builtInDefinitions}/${role}.md`, 'utf8').split('\n---\n')[1]?.trim() ?? '';
    expect(whole.startsWith(`<role>\n${own.slice(0, 40)}`)).toBe(true);
    expect(whole).not.toMatch(/software engineer|definition of done|<definition_of_done>|signal\.json|\.pawl\/input/);
    expect(whole).not.toContain('<agent_definition>');
  },
);

test.each(['supervisor', 'merge-queue', 'review'] as const)('%s is asked for no commit', async (role) => {
  const { whole } = await promptOfRole(role);
  expect(whole).not.toMatch(/<git_workflow>|Everything is committed|Commit in small steps/);
  expect(whole).toMatch(/(?:make no commits|Do not:\n\n- Edit|edit code yourself)/);
});

test('a person’s message is the turn of the workspace, without a tag around it [S4-12]', async () => {
  expect((await promptOfRole('workspace')).turn).toBe('Why is the login slow?\n');
  expect((await promptOfRole('supervisor')).turn).toBe('<request>\nWhat is everybody up to?\n</request>\n');
});
