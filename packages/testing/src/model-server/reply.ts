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
      /** The tool that runs scripts, where this one is called from such a script. */
      script?: { name: string; namespace?: string };
    };

/** Tokens of one answer; `input` counts those from the cache too. */
export type Usage = { input: number; output: number; cached: number };

/** An answer, in no vendor's words. */
export type Answer = {
  kind: 'answer';
  parts: Part[];
  usage: Usage;
  /** How long the stream waits before each chunk. */
  chunkMs: number;
  /** How it ends: as it should, with the connection gone, or with what is no JSON. */
  ending: 'whole' | 'cut' | 'malformed';
};

/** A failure, in no vendor's words. */
export type Fault = {
  kind: 'fault';
  error: ErrorKind;
  /** When a limit ends, in seconds since 1970, where that is told. */
  resetsAt: number | null;
  /** Seconds until then. */
  resetsInSeconds: number | null;
  /** What is wrong, where the vendor's own words would hide it. */
  message?: string;
};

export type Reply = Answer | Fault | { kind: 'hang' };

/** What an API writes an answer with. */
export type Writing = {
  /** The same request has the same id, so that a repeated one gets the same answer. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
};

/** One event of a stream; `event` is its name, where the vendor names events. */
export type Frame = { event?: string; data: Json | string };

/** A failure as it goes over the wire. */
export type WireFault = { status: number; headers?: Record<string, string>; body: Json };
