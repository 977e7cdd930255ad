import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { builtInScenarios } from '../../src/model-server/built-in.ts';
import { readScenarioFile } from '../../src/model-server/scenario-file.ts';
import { errorKinds, stepSchema } from '../../src/model-server/step.ts';
import { temporaryDirectory } from '../../src/temporary.ts';

const page = readFileSync(fileURLToPath(new URL('../../../../docs/model-server.md', import.meta.url)), 'utf8');

describe('the page', () => {
  test('names every scenario, every step and every failure', () => {
    const steps = stepSchema.options.map((option) => Object.keys(option.shape)[0] ?? '');
    expect(steps).toContain('shell');
    for (const name of Object.keys(builtInScenarios)) expect(page).toContain(`\`${name}\``);
    for (const name of steps) expect(page).toMatch(new RegExp(`^\\|.*\`${name}: `, 'm'));
    for (const kind of errorKinds) expect(page).toContain(`\`${kind}\``);
  });

  test.each([...page.matchAll(/^```yaml scenario\n(.*?)^```$/gms)].map(([, text = '']) => [text]))(
    'has scenarios that can be played: %j',
    async (text) => {
      await using directory = await temporaryDirectory();
      const path = join(directory.path, 'example.yaml');
      await writeFile(path, text);
      expect((await readScenarioFile(path)).steps.length).toBeGreaterThan(1);
    },
  );
});
