import type { Home } from '@pawl/protocol/node/home';
import { homeAt } from '@pawl/protocol/node/home';
import type { Palette } from './terminal/palette.ts';
import { palette } from './terminal/palette.ts';

/** The context of every command: output, style, and home. */
export type CommandContext = {
  home: Home;
  json: boolean;
  quiet: boolean;
  colours: Palette;
  columns: number;
  /** Prints the answer: the envelope with --json, else the text. */
  answer(kind: string, data: unknown, text: () => string): void;
  /** Prints one record of a stream: a line of NDJSON with --json, else the text. */
  record(kind: string, data: unknown, text: () => string | null): void;
  /** Writes to stderr, never part of the answer. */
  say(text: string): void;
};

/** The version of the JSON envelope. It changes only when readers would break. */
const envelopeVersion = 1;

/** Builds the context from the global options. */
export function createContext(options: { json?: boolean; quiet?: boolean; home?: string }): CommandContext {
  const json = options.json ?? false;
  const quiet = options.quiet ?? false;
  const write = (text: string) => process.stdout.write(`${text}\n`);
  const envelope = (kind: string, data: unknown) => plainJson({ pawl: envelopeVersion, kind, data });
  return {
    home: homeAt(options.home),
    json,
    quiet,
    colours: palette(process.stdout),
    // Some terminals do not know their width and report 0.
    columns: process.stdout.columns || 120,
    answer(kind, data, text) {
      if (json) write(envelope(kind, data));
      else if (!quiet) write(text());
    },
    record(kind, data, text) {
      if (json) return void write(envelope(kind, data));
      const line = quiet ? null : text();
      if (line !== null) write(line);
    },
    say(text) {
      if (!quiet && !json) process.stderr.write(`${text}\n`);
    },
  };
}

/** JSON with terminal control characters escaped; equal to a JSON parser. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    // oxlint-disable-next-line no-control-regex -- control characters are what this escapes
    /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
