import { modelServerLimits } from './limit.ts';

/** What a test may know of a request; a key is never kept, only enough of its hash to tell it from others. */
export type RequestRecord = {
  method: string;
  /** Without the query, which may hold a key. */
  path: string;
  api: string;
  kind: 'answer' | 'count' | 'models' | 'alive' | 'unknown';
  scenario: string | null;
  /** Which answer since the user last spoke, from 1. */
  step: number;
  key: string;
  userTurns: number;
  model: string;
  stream: boolean;
  tools: string[];
  /** Every `[[mark:WORD]]` in what was sent, in order: what the model was shown, and how often. */
  marks: string[];
  /** The status that was sent; null while nothing was. */
  status: number | null;
};

/** The marks in a request, as many as are remembered. */
export function marksIn(body: Buffer): string[] {
  const marks = Array.from(body.toString().matchAll(/\[\[mark:([\w.-]{1,80})\]\]/g), ([, word = '']) => word);
  return marks.slice(0, modelServerLimits.marksKept);
}

/** Keeps a record and forgets the oldest when there are too many. */
export function keepRecord(records: RequestRecord[], record: RequestRecord): void {
  record.tools.length = Math.min(record.tools.length, modelServerLimits.toolNamesKept);
  records.push(record);
  if (records.length > modelServerLimits.requestsKept) records.shift();
}
