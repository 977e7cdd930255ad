import { randomUUID } from 'node:crypto';
import { approvalCancelLine, approvalRequestLine } from '@pawl/wire/approval-line';
import type { Decision } from '../loop/turn.ts';
import type { GateRequest } from '../tools/tool.ts';

/** Questions to the person, over stdout and stdin. */
export class Approvals {
  readonly #write: (line: object) => void;
  readonly #waiting = new Map<string, (decision: Decision) => void>();
  #closed = false;

  constructor(write: (line: object) => void) {
    this.#write = write;
  }

  /** Asks, and waits for the answer. A stopped turn withdraws the question; a closed stdin denies it. */
  async ask(request: GateRequest, callId: string, signal: AbortSignal): Promise<Decision> {
    if (this.#closed) return closed;
    const id = randomUUID();
    const answer = new Promise<Decision>((resolve) => this.#waiting.set(id, resolve));
    const withdraw = () => {
      this.#write(approvalCancelLine(id));
      this.answer(id, { allow: false, reason: 'Stopped.' });
    };
    const { tool, input, title } = request;
    this.#write(approvalRequestLine({ requestId: id, tool, input, title, toolUseId: callId, cwd: process.cwd() }));
    signal.addEventListener('abort', withdraw, { once: true });
    try {
      return await answer;
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  answer(requestId: string, decision: Decision): void {
    this.#waiting.get(requestId)?.(decision);
    this.#waiting.delete(requestId);
  }

  close(): void {
    this.#closed = true;
    for (const id of this.#waiting.keys()) this.answer(id, closed);
  }
}

const closed: Decision = { allow: false, reason: 'Denied: stdin was closed before the answer came.' };
