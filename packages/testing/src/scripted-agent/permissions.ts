import type { ApprovalAnswer, ApprovalRequest } from '@pawl/wire/approval-line';
import { approvalCancelLine, approvalRequestLine } from '@pawl/wire/approval-line';
import type { ClaudeLine } from '@pawl/wire/claude-line';
import { randomUUID } from 'node:crypto';

/** The answers that the agent waits for, as Claude Code does on stdin. */
export class Permissions {
  readonly #waiting = new Map<string, (answer: ApprovalAnswer) => void>();
  readonly #print: (line: ClaudeLine) => void;
  #closed = false;

  constructor(print: (line: ClaudeLine) => void) {
    this.#print = print;
  }

  /** Asks, and waits for the answer; withdraws the request after `cancelMs`. */
  async ask(
    request: Pick<ApprovalRequest, 'tool' | 'input' | 'owner'>,
    cancelMs: number | undefined,
  ): Promise<ApprovalAnswer> {
    const requestId = randomUUID();
    const answered = new Promise<ApprovalAnswer>((resolve) => this.#waiting.set(requestId, resolve));
    if (this.#closed) this.close();
    else this.#print(approvalRequestLine({ ...request, requestId }));
    if (cancelMs === undefined) return answered;
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), cancelMs));
    const answer = await Promise.race([answered, late]);
    if (answer !== null) return answer;
    this.#waiting.delete(requestId);
    this.#print(approvalCancelLine(requestId));
    return { requestId, allowed: false, reason: 'withdrawn' };
  }

  /** Takes an answer; a second one for the same request, or one for none, changes nothing. */
  answer(answer: ApprovalAnswer): void {
    this.#waiting.get(answer.requestId)?.(answer);
    this.#waiting.delete(answer.requestId);
  }

  /** Denies everything that is not answered, since no answer can come any more. */
  close(): void {
    this.#closed = true;
    const reason = 'Tool permission stream closed before response received';
    for (const [requestId, settle] of this.#waiting) settle({ requestId, allowed: false, reason });
    this.#waiting.clear();
  }
}
