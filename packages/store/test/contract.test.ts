import { afterAll, beforeAll, describe } from 'vitest';
import { agentsContract } from './contract/agents.ts';
import { chunksContract } from './contract/chunks.ts';
import { engines } from './contract/engines.ts';
import { eventsContract } from './contract/events.ts';
import { familyContract } from './contract/family.ts';
import { historyContract } from './contract/history.ts';
import { migrationsContract } from './contract/migrations.ts';
import { recordsContract } from './contract/records.ts';
import { registryContract } from './contract/registry.ts';
import { upgradeContract } from './contract/upgrade.ts';
import { writesContract } from './contract/writes.ts';

describe.each(engines)('the store on $name', (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  describe('writes', () => writesContract(engine));
  describe('events', () => eventsContract(engine));
  describe('migrations', () => migrationsContract(engine));
  describe('an older database', () => upgradeContract(engine));
  describe('records', () => recordsContract(engine));
  describe('agents', () => agentsContract(engine));
  describe('registry', () => registryContract(engine));
  describe('family', () => familyContract(engine));
  describe('history', () => historyContract(engine));
  describe('chunks', () => chunksContract(engine));
});
