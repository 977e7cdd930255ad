import { builtInPresets } from '@pawl/providers/preset/built-in';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest';
import { tryConversation } from './capability/conversation.ts';
import { tryLimits } from './capability/limits.ts';
import { tryMail } from './capability/mail.ts';
import { tryProcesses } from './capability/processes.ts';
import { trySecrets } from './capability/secrets.ts';
import { tryTools } from './capability/tools.ts';
import type { AddCapability, Trial } from './capability/trial.ts';
import { realClis } from './clis.ts';
import type { RealWorkshop } from './workshop.ts';
import { openWorkshop } from './workshop.ts';

const results = join(import.meta.dirname, '..', '..', '.cache', 'real-results');

const presets = builtInPresets({
  scriptedAgent: ['scripted'],
  bridge: ['bridge'],
  engine: ['node', 'e'],
  engineState: '/engine',
  scriptedState: '',
});

/** What came of each capability, for the table that is printed at the end; a note says why it is not applicable, or what is particular. */
type Outcome = { held: 'yes' | 'NO' | 'n/a'; note: string | null };

/** Tries everything that Pawl promises with one real CLI, and what is particular to it. */
export function tryCli(
  name: string,
  particular: (add: AddCapability, shop: () => RealWorkshop) => void = () => {},
): void {
  const cli = realClis[name];
  if (cli === undefined) throw new Error(`there is no CLI ${name}`);
  const preset = presets.find((each) => each.name === cli.provider);
  if (preset === undefined) throw new Error(`there is no preset ${cli.provider}`);
  const live = presets.find((each) => each.name === cli.live) ?? null;
  const outcomes: Record<string, Outcome> = {};
  let shop: RealWorkshop;

  beforeAll(async () => {
    shop = await openWorkshop(name, cli);
  });
  // After each test, so that a run which is cut short leaves its table.
  afterEach(() => {
    mkdirSync(results, { recursive: true });
    writeFileSync(join(results, `${name}.json`), JSON.stringify(outcomes));
  });
  afterAll(() => shop.close());

  function capability(title: string, offered: boolean | string, body: () => Promise<string | void>): void {
    test(`${name}: ${title}`, async () => {
      outcomes[title] = { held: 'NO', note: null };
      if (offered === true) outcomes[title] = { held: 'yes', note: (await body()) ?? null };
      else outcomes[title] = { held: 'n/a', note: offered === false ? 'the CLI has no such thing' : offered };
    });
  }

  const trial: Trial = { name, cli, preset, live, shop: () => shop, capability };
  describe(`${name} ${cli.version} [S3-04]`, () => {
    for (const topic of [tryConversation, tryMail, tryLimits, trySecrets, tryProcesses, tryTools]) topic(trial);
    particular(capability, () => shop);
  });
}
