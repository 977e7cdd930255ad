import { sampleOf } from '@pawl/testing/endurance';
import { afterAll, beforeAll, describe } from 'vitest';
import { accountsContract } from './contract/accounts.ts';
import { agentsContract } from './contract/agents.ts';
import { approvalsContract } from './contract/approvals.ts';
import { changesContract } from './contract/changes.ts';
import { chunksContract } from './contract/chunks.ts';
import { daemonStateContract } from './contract/daemon-state.ts';
import type { EngineUnderTest } from './contract/engines.ts';
import { engines } from './contract/engines.ts';
import { eventsContract } from './contract/events.ts';
import { factsContract } from './contract/facts.ts';
import { familyContract } from './contract/family.ts';
import { healthContract } from './contract/health.ts';
import { historyContract } from './contract/history.ts';
import { mailContract } from './contract/mail.ts';
import { migrationsContract } from './contract/migrations.ts';
import { nudgesContract } from './contract/nudges.ts';
import { placesContract } from './contract/places.ts';
import { planContract } from './contract/plan.ts';
import { questionsContract } from './contract/questions.ts';
import { recordsContract } from './contract/records.ts';
import { registryContract } from './contract/registry.ts';
import { rulesContract } from './contract/rules.ts';
import { tasksContract } from './contract/tasks.ts';
import { timeJumpContract } from './contract/time-jump.ts';
import { typedFactsContract } from './contract/typed-facts.ts';
import { upgradeContract } from './contract/upgrade.ts';
import { withheldContract } from './contract/withheld.ts';
import { writesContract } from './contract/writes.ts';

/** Databases of earlier releases: each engine has its own migrations. */
const upgrades: readonly Part[] = [
  ['migrations', migrationsContract],
  ['an older database', upgradeContract],
  ['the settings of an earlier release', typedFactsContract],
];

const parts: readonly Part[] = [
  ['writes', writesContract],
  ['events', eventsContract],
  ['the facts of a home', daemonStateContract],
  ['typed facts', factsContract],
  ['records', recordsContract],
  ['accounts', accountsContract],
  ['agents', agentsContract],
  ['requests for approval', approvalsContract],
  ['registry', registryContract],
  ['places', placesContract],
  ['family', familyContract],
  ['history', historyContract],
  ['chunks', chunksContract],
  ['tasks', tasksContract],
  ['plans', planContract],
  ['changes', changesContract],
  ['withheld work', withheldContract],
  ['mail', mailContract],
  ['questions', questionsContract],
  ['rules', rulesContract],
  ['nudges', nudgesContract],
  ['health', healthContract],
  ['a clock that is set', timeJumpContract],
];

type Part = readonly [title: string, contract: (engine: EngineUnderTest) => void];

/** Postgres computes for half a minute, and no release uses it yet: `npm test` draws some of its parts. */
const postgresParts = 6;

describe.each(engines)('the store on $name', (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  const drawn = engine.name === 'postgres' ? sampleOf(parts, postgresParts) : parts;
  describe.each([...upgrades, ...drawn])('%s', (_, contract) => contract(engine));
});
