import type { ProcessIdentity } from '@pawl/host/process/identity';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The facts about one command, kept in a file that is always whole. */
export type FileFacts = {
  marker: string;
  script: string;
  identity: ProcessIdentity | null;
  offset: number;
  output: string;
  ended: boolean;
  exitCode: number | null;
};

export function readFacts(place: string): FileFacts {
  return JSON.parse(readFileSync(join(place, 'facts.json'), 'utf8')) as FileFacts;
}

export function writeFacts(place: string, facts: FileFacts): void {
  const path = join(place, 'facts.json');
  writeFileSync(`${path}.new`, JSON.stringify(facts));
  renameSync(`${path}.new`, path);
}
