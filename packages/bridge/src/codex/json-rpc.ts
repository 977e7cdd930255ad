import { PawlError } from '@pawl/schema/error';
import { at, textAt } from '../json.ts';
import { bridgeLimits } from '../limit.ts';

/** Handlers for the other side's calls: a result for a request, or undefined for an unknown method. */
export type Calls = {
  onRequest: (method: string, params: unknown, id: unknown) => object | undefined | Promise<object>;
  onNotification: (method: string, params: unknown) => void;
};

type Pending = { method: string; resolve: (result: unknown) => void; reject: (error: Error) => void };

/** One side of JSON-RPC over lines, as `codex app-server` speaks it: without the version field. */
export class JsonRpc {
  readonly #send: (message: object) => void;
  readonly #calls: Calls;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  constructor(send: (message: object) => void, calls: Calls) {
    this.#send = send;
    this.#calls = calls;
  }

  /** Sends a request and resolves with its result; rejects with the other side's error. */
  request(method: string, params: object): Promise<unknown> {
    if (this.#pending.size >= bridgeLimits.pendingRequests) {
      throw new PawlError('busy', 'Too many requests are waiting for an answer of the agent.');
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

  /** Handles a message. False if it is not JSON-RPC, or an unexpected answer. */
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
    const result = this.#calls.onRequest(method, params, id);
    if (result instanceof Promise) {
      void result.then((settled) => this.#send({ id, result: settled }));
      return;
    }
    this.#send(result === undefined ? { id, error: { code: -32601, message: `no method ${method}` } } : { id, result });
  }
}
