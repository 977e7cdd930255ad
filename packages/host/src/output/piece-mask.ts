import { createSecretMask } from './secret-mask.ts';

/** Masks secrets in streamed text. */
export type PieceMask = {
  /** Returns the masked text up to the start of a possibly unfinished secret. */
  push(piece: string): string;
  /** Returns the held-back rest, masked if it may have become a secret. */
  end(): string;
};

/** A longer start of a secret is masked, even if its end never came. */
const tellingBytes = 8;

/** Pieces may be split anywhere, even inside a secret. */
export function createPieceMask(secrets: readonly string[]): PieceMask {
  const mask = createSecretMask(secrets);
  let held = Buffer.alloc(0);
  if (mask === null) return { push: (piece) => piece, end: () => '' };
  return {
    push(piece) {
      const bytes = Buffer.concat([held, Buffer.from(piece)]);
      for (const { start, end } of mask.find(bytes)) bytes.fill('*', start, end);
      const from = mask.unfinishedFrom(bytes);
      held = bytes.subarray(from);
      return bytes.subarray(0, from).toString('utf8');
    },
    end() {
      const rest = held.length >= tellingBytes ? '*'.repeat(held.length) : held.toString('utf8');
      held = Buffer.alloc(0);
      return rest;
    },
  };
}
