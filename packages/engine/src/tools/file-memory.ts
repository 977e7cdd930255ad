import { createHash } from 'node:crypto';
import type { WorkspacePath } from './workspace-path.ts';

/** How strictly a file must have been read before it is overwritten. */
export type WriteSafety = 'strict' | 'warn' | 'off';

export type WriteVerdict = { refused: string } | { warning: string | null };

/** Remembers which version of each file the model has seen. */
export class FileMemory {
  readonly #safety: WriteSafety;
  readonly #seen = new Map<string, string>();

  constructor(safety: WriteSafety) {
    this.#safety = safety;
  }

  remember({ absolute }: WorkspacePath, content: Buffer): void {
    this.#seen.set(absolute, digest(content));
  }

  /** Judges replacing `current`, the content that is there now; null if there is no file. */
  judge({ absolute, shown }: WorkspacePath, current: Buffer | null): WriteVerdict {
    if (this.#safety === 'off' || current === null) return { warning: null };
    const seen = this.#seen.get(absolute);
    if (seen === undefined) {
      if (this.#safety === 'strict') return { refused: `Read ${shown} before you overwrite it.` };
      return { warning: `Warning: ${shown} was overwritten without having been read.` };
    }
    if (seen === digest(current)) return { warning: null };
    return { refused: `${shown} has changed since it was read. Read it again, then repeat the change.` };
  }
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64');
}
