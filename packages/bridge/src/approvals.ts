import { randomUUID } from 'node:crypto';
import type { ApprovalAnswer, ApprovalRequest } from '@pawl/wire/approval-line';
import { bridgeLimits } from './limit.ts';
import type { StreamWriter } from './stream-writer.ts';

/** The end of a request; `withdrawn` means that it ended without a decision. */
type Settled = ApprovalAnswer & { withdrawn?: true };
type Waiting = { settle: (answer: Settled) => void; nativeId: unknown };

/** Says to a model why a call was denied, for protocols whose answer has no field for it. */
export function denialText({ tool, input }: Omit<ApprovalRequest, 'requestId'>, reason: string): string {
  return `${tool} (${JSON.stringify(input).slice(0, 500)}) was denied: ${reason}`;
}

/** Requests of an agent that wait for an answer on stdin. */
export class Approvals {
  readonly #writer: Pick<StreamWriter, 'ask' | 'cancelAsk'>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(writer: Pick<StreamWriter, 'ask' | 'cancelAsk'>) {
    this.#writer = writer;
  }

  /** Asks, and resolves with the answer. Denies at once if too many wait. `nativeId` is the agent's own id. */
  ask(request: Omit<ApprovalRequest, 'requestId'>, nativeId: unknown = null): Promise<Settled> {
    const requestId = randomUUID();
    if (this.#waiting.size >= bridgeLimits.pendingRequests) {
      return Promise.resolve({ requestId, allowed: false, reason: 'Too many requests wait for an answer.' });
    }
    return new Promise((settle) => {
      this.#waiting.set(requestId, { settle, nativeId });
      this.#writer.ask({ ...request, requestId });
    });
  }

  /** Takes an answer; ignores a second one, or one for a request that is not open. */
  answer(answer: ApprovalAnswer): void {
    this.#waiting.get(answer.requestId)?.settle(answer);
    this.#waiting.delete(answer.requestId);
  }

  /** Withdraws a request that the agent has settled itself, or all of them at the end of a turn. */
  withdraw(nativeId?: unknown): void {
    for (const [requestId, waiting] of this.#waiting) {
      if (nativeId !== undefined && waiting.nativeId !== nativeId) continue;
      this.#waiting.delete(requestId);
      this.#writer.cancelAsk(requestId);
      waiting.settle({ requestId, allowed: false, reason: '', withdrawn: true });
    }
  }
}
