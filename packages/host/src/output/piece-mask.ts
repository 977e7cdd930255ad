import { createSecretMask } from './secret-mask.ts';

/** Masks secrets in a text that comes piece by piece. */
export type PieceMask = {
  /** As much of the text up to now as cannot be the beginning of a secret any more, masked. */
  push(piece: string): string;
  /** What was held back, now that nothing follows; what may have become a secret is masked. */
  end(): string;
};

/** A longer beginning of a secret is not shown, though its end never came. */
const tellingBytes = 8;

/** A mask for these secrets; pieces are cut anywhere, also in the middle of one. */
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
