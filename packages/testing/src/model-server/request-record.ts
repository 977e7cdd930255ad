import { modelServerLimits } from './limit.ts';

/** The record of a request for tests; of a key, only part of its hash. */
export type RequestRecord = {
  method: string;
  /** Without the query, which may contain a key. */
  path: string;
  api: string;
  kind: 'answer' | 'count' | 'models' | 'alive' | 'unknown';
  scenario: string | null;
  /** The answer's number since the last user turn, from 1. */
  step: number;
  key: string;
  userTurns: number;
  model: string;
  stream: boolean;
  tools: string[];
  /** Every `[[mark:WORD]]` in the request, in order: what the model was shown, and how often. */
  marks: string[];
  /** The sent status; null while none was. */
  status: number | null;
};

/** The marks in a request, as many as are remembered. */
export function marksIn(body: Buffer): string[] {
  const marks = Array.from(body.toString().matchAll(/\[\[mark:([\w.-]{1,80})\]\]/g), ([, word = '']) => word);
  return marks.slice(0, modelServerLimits.marksKept);
}

/** Adds a record and drops the oldest if there are too many. */
export function keepRecord(records: RequestRecord[], record: RequestRecord): void {
  record.tools.length = Math.min(record.tools.length, modelServerLimits.toolNamesKept);
  records.push(record);
  if (records.length > modelServerLimits.requestsKept) records.shift();
}
