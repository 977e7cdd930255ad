import { StringDecoder } from 'node:string_decoder';
import { proxyLimits } from '../proxy-limit.ts';
import type { TokenCount } from './token-count.ts';
import { noTokens } from './token-count.ts';
import type { UsageReport } from './usage-report.ts';
import { usageReport } from './usage-report.ts';

/** Reads an answer as it passes, and counts its tokens. */
export type UsageReader = {
  push(bytes: Buffer): void;
  /** The tokens of the call; null if the answer is none of a model. */
  end(requestBytes: number): TokenCount | null;
};

/** About four bytes are one token. */
const bytesPerToken = 4;

export function readUsage(contentType: string): UsageReader {
  const isStream = /^text\/event-stream\b/i.test(contentType);
  const isJson = /^application\/json\b/i.test(contentType);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let tooLong = false;
  let answerBytes = 0;
  let report: UsageReport | null = null;

  /** Looks for usage in one piece of JSON. Most pieces have none, and are not parsed. */
  function look(text: string): void {
    if (!/usage/i.test(text)) return;
    try {
      const found = usageReport(JSON.parse(text));
      if (found !== null) report = { ...report, ...found };
    } catch {
      // Not JSON: the client will say so.
    }
  }

  function take(text: string): void {
    rest += text;
    if (isStream) {
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!tooLong && line.startsWith('data:')) look(line.slice('data:'.length));
        tooLong = false;
      }
    }
    if (rest.length <= proxyLimits.usageBytes) return;
    rest = '';
    tooLong = true;
  }

  return {
    push(bytes) {
      answerBytes += bytes.length;
      if ((isStream || isJson) && !(isJson && tooLong)) take(decoder.write(bytes));
    },
    end(requestBytes) {
      if (!tooLong && rest !== '') look(isStream ? rest.replace(/^data:/, '') : rest);
      if (report !== null) return { ...noTokens, ...report };
      // A stream that was cut, or whose client did not ask for numbers, was paid for, too.
      if (!isStream || answerBytes === 0) return null;
      return {
        input: Math.ceil(requestBytes / bytesPerToken),
        cached: 0,
        output: Math.ceil(answerBytes / bytesPerToken),
      };
    },
  };
}
