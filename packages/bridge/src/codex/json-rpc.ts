import { PawlError } from '@pawl/schema/error';
import { at, textAt } from '../json.ts';
import { bridgeLimits } from '../limit.ts';

/** What the other side calls: an answer for a request, or undefined when there is no such method. */
export type Calls = {
  onRequest: (method: string, params: unknown) => object | undefined;
  onNotification: (method: string, params: unknown) => void;
};

type Pending = { method: string; resolve: (result: unknown) => void; reject: (error: Error) => void };

/** One side of JSON-RPC over lines, as `codex app-server` speaks it: without the field that names the version. */
export class JsonRpc {
  readonly #send: (message: object) => void;
  readonly #calls: Calls;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  constructor(send: (message: object) => void, calls: Calls) {
    this.#send = send;
    this.#calls = calls;
  }

  /** Asks and resolves with the answer; an error of the other side is thrown with its words. */
  request(method: string, params: object): Promise<unknown> {
    if (this.#pending.size >= bridgeLimits.pendingRequests) {
      throw new PawlError('busy', 'Too many requests wait for an answer of the agent.');
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  /** Takes a message. False when it is none of JSON-RPC, or an answer to nothing. */
  receive(message: Record<string, unknown>): boolean {
    const { id, method, params } = message;
    if (typeof method === 'string') {
      if (id === undefined) this.#calls.onNotification(method, params);
      else this.#answer(id, method, params);
      return true;
    }
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined) return false;
    this.#pending.delete(id as number);
    const error = at(message, 'error');
    if (error === undefined) pending.resolve(message['result']);
    else pending.reject(new PawlError('unavailable', `${pending.method}: ${textAt(error, 'message')}`));
    return true;
  }

  #answer(id: unknown, method: string, params: unknown): void {
    const result = this.#calls.onRequest(method, params);
    this.#send(result === undefined ? { id, error: { code: -32601, message: `no method ${method}` } } : { id, result });
  }
}
