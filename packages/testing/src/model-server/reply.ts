import type { Json } from './json.ts';
import type { ErrorKind } from './step.ts';

export type Part =
  | { kind: 'thinking'; text: string }
  | { kind: 'text'; text: string }
  | {
      kind: 'call';
      id: string;
      name: string;
      namespace?: string;
      input: Json;
      /** The script tool, if this one is called from a script. */
      script?: { name: string; namespace?: string };
    };

/** Tokens of one answer; `input` includes cached ones. */
export type Usage = { input: number; output: number; cached: number };

/** An answer, vendor-neutral. */
export type Answer = {
  kind: 'answer';
  parts: Part[];
  usage: Usage;
  /** The delay before each chunk. */
  chunkMs: number;
  /** How it ends: normally, with a lost connection, or with invalid JSON. */
  ending: 'whole' | 'cut' | 'malformed';
};

/** A failure, vendor-neutral. */
export type Fault = {
  kind: 'fault';
  error: ErrorKind;
  /** When a limit ends, in seconds since 1970, if reported. */
  resetsAt: number | null;
  /** Seconds until then. */
  resetsInSeconds: number | null;
  /** The problem, if the vendor's own words would hide it. */
  message?: string;
};

export type Reply = Answer | Fault | { kind: 'hang' };

/** The fields of an answer that each API writes in its own format. */
export type Writing = {
  /** Equal requests have equal ids, so a repeated one gets the same answer. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
};

/** One event of a stream; `event` is its name, where the vendor names events. */
export type Frame = { event?: string; data: Json | string };

/** A failure as it goes over the wire. */
export type WireFault = { status: number; headers?: Record<string, string>; body: Json };
