import type { WorkMode } from '@pawl/schema/record';
import { workModes } from '@pawl/schema/record';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PromptGiven } from '../../src/prompts/assemble.ts';
import { assemblePrompt } from '../../src/prompts/assemble.ts';
import { aDefinition } from '../definitions/fixture.ts';
import { aRun, anAgent } from '../fixture.ts';
import { promptAssets } from './fixture.ts';

/** Everything that a mode's prompt can contain. */
export function everything(mode: WorkMode): PromptGiven {
  return {
    assets: promptAssets(),
    agent: anAgent({ mode }),
    run: aRun({
      task: 'Fix the login test, {AGENT_NAME}.',
      definition: aDefinition({ prompt: 'You are careful, {AGENT_ID}.' }),
    }),
    custom: ['Run `make check` before you commit.'],
  };
}

/** The prompts that are stored as files, by name. Plain text, so that no formatter touches them. */
export const goldenPrompts: Record<string, () => string> = {
  ...Object.fromEntries(workModes.map((mode) => [mode, () => assemblePrompt(everything(mode)).whole])),
  'execute-that-goes-on': () =>
    assemblePrompt({
      ...everything('execute'),
      transcript: 'User: hello\n\nYou: hi',
      notice: '<interrupted>\nYou were interrupted.\n</interrupted>',
      dependencies: [{ name: 'make the login', summary: 'It is `login(user)` in src/login.ts.' }],
    }).whole,
};

export const goldenPath = (name: string) => join(import.meta.dirname, 'golden', `${name}.txt`);

// Run as a program, it writes the current prompts. Read the diff: agents will read it.
if (process.argv[1] === import.meta.filename) {
  for (const [name, make] of Object.entries(goldenPrompts)) writeFileSync(goldenPath(name), make());
}
