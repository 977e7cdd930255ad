import { messageOf, PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Transport } from './json-rpc.ts';

const toolSchema = z.object({
  name: z.string().min(1).max(200),
  description: z.string().default(''),
  inputSchema: z.looseObject({ type: z.literal('object') }),
});
export type ServerTool = z.infer<typeof toolSchema>;

const listSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.string() }),
]);
const callSchema = z.object({
  content: z.array(partSchema).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
export type CallResult = z.infer<typeof callSchema>;

/** The newest revision with a handshake, which servers of every age understand. */
const revision = '2025-11-25';

/** A connection to one MCP server. A server that has died is started again for the next call, a few times. */
export class Connection {
  readonly name: string;
  readonly #open: () => Transport;
  #ready: Promise<Transport> | null = null;
  #starts = 0;

  constructor(name: string, open: () => Transport) {
    this.name = name;
    this.#open = open;
  }

  /** Its tools. A malformed one is left out. */
  async listTools(signal: AbortSignal): Promise<ServerTool[]> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(engineLimits.serverStartMs)]);
    const transport = await this.#connected(bounded);
    const tools: ServerTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < engineLimits.serverPages; page++) {
      const answer = await transport.request('tools/list', cursor === undefined ? {} : { cursor }, bounded);
      const listed = listSchema.parse(answer);
      tools.push(
        ...listed.tools.flatMap((each) => {
          const parsed = toolSchema.safeParse(each);
          return parsed.success ? [parsed.data] : [];
        }),
      );
      cursor = listed.nextCursor;
      if (cursor === undefined || tools.length >= engineLimits.serverTools) break;
    }
    return tools.slice(0, engineLimits.serverTools);
  }

  /** Calls a tool. A call is never repeated, except by a transport that knows how. */
  async call(tool: string, input: object, signal: AbortSignal, meta: object = {}): Promise<CallResult> {
    const over = AbortSignal.timeout(engineLimits.serverCallMs);
    try {
      const transport = await this.#connected(
        AbortSignal.any([signal, AbortSignal.timeout(engineLimits.serverStartMs)]),
      );
      const params = { name: tool, arguments: input, _meta: meta };
      return callSchema.parse(await transport.request('tools/call', params, AbortSignal.any([signal, over])));
    } catch (error) {
      signal.throwIfAborted();
      const why = over.aborted ? `${tool} took longer than ${engineLimits.serverCallMs} ms.` : messageOf(error);
      throw new PawlError('unavailable', `The MCP server ${this.name} did not answer: ${why}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    const transport = await this.#ready?.catch(() => null);
    await transport?.close();
  }

  async #connected(signal: AbortSignal): Promise<Transport> {
    const known = await this.#ready?.catch(() => null);
    if (known && !known.isDead) return known;
    if (this.#starts > engineLimits.serverRestarts) {
      throw new PawlError('unavailable', `it has ended ${this.#starts} times and is not started again.`);
    }
    this.#starts += 1;
    this.#ready = this.#start(signal);
    return await this.#ready;
  }

  async #start(signal: AbortSignal): Promise<Transport> {
    const transport = this.#open();
    try {
      const clientInfo = { name: 'pawl-engine', version: '0.1.0' };
      await transport.request('initialize', { protocolVersion: revision, capabilities: {}, clientInfo }, signal);
      transport.notify('notifications/initialized', {});
      return transport;
    } catch (error) {
      await transport.close();
      throw error;
    }
  }
}
