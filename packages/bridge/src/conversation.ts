import { messageOf, PawlError } from '@pawl/schema/error';
import type { ControlRequest } from '@pawl/wire/claude-input';
import { Inbox } from './inbox.ts';
import { bridgeLimits } from './limit.ts';
import { report } from './output.ts';
import type { Protocol } from './protocol.ts';
import type { TurnEnd, StreamWriter } from './stream-writer.ts';
import { within } from './wait.ts';

/** Takes turns from stdin until it ends. Input during a turn is steered into it if the agent supports that. */
export class Conversation {
  readonly #protocol: Protocol;
  readonly #writer: StreamWriter;
  #busy = false;
  #stopping = false;
  #over = false;

  constructor(protocol: Protocol, writer: StreamWriter) {
    this.#protocol = protocol;
    this.#writer = writer;
  }

  /** Returns the exit code: 1 if the conversation could not start or its last turn failed. */
  async run(): Promise<number> {
    const inbox = new Inbox(
      process.stdin,
      { control: (control) => void this.#answer(control), answer: (answer) => this.#protocol.answer?.(answer) },
      report,
    );
    try {
      if (
        (await within(
          this.#protocol.open().then(() => true),
          bridgeLimits.openMs,
        )) === null
      ) {
        throw new PawlError('timeout', `The agent was not ready within ${bridgeLimits.openMs / 1_000} s.`);
      }
    } catch (error) {
      this.fail(messageOf(error));
      return 1;
    }
    let end: TurnEnd = { kind: 'completed' };
    while (!this.#stopping) {
      const input = await inbox.peek();
      if (input === undefined) break;
      inbox.take();
      this.#busy = true;
      this.#writer.beginTurn();
      end = await this.#during(this.#protocol.turn(input), inbox);
      this.#busy = false;
      if (!this.#over) this.#writer.end(end);
    }
    return end.kind === 'failed' ? 1 : 0;
  }

  /** Ends the running turn, and starts no other. True if one was running. */
  stop(): boolean {
    this.#stopping = true;
    if (this.#busy) void this.#interrupt();
    return this.#busy;
  }

  /** Ends the conversation with an error, once. */
  fail(text: string): void {
    if (this.#over) return;
    this.#over = true;
    report(text);
    this.#writer.end({ kind: 'failed', text, status: null });
  }

  async #during(turn: Promise<TurnEnd>, inbox: Inbox): Promise<TurnEnd> {
    const ended = turn.catch((error: unknown): TurnEnd => ({ kind: 'failed', text: messageOf(error), status: null }));
    for (;;) {
      const input = await Promise.race([ended.then(() => undefined), inbox.peek()]);
      if (input === undefined) return ended;
      const taken = await this.#protocol.steer(input).catch(() => false);
      if (!taken) return ended;
      inbox.take();
    }
  }

  async #answer({ requestId, subtype }: ControlRequest): Promise<void> {
    if (subtype === 'interrupt' && this.#busy) await this.#interrupt();
    const known = subtype === 'interrupt' || subtype === 'initialize';
    this.#writer.control(requestId, known ? null : `There is no control request ${subtype.slice(0, 80)}.`);
  }

  async #interrupt(): Promise<void> {
    try {
      await this.#protocol.interrupt();
    } catch (error) {
      report(`the turn could not be interrupted: ${messageOf(error)}`);
    }
  }
}
