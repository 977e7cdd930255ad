import type { OutputChunk, OutputPage, ProviderList, Top } from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';
import { withQuery } from '../requests.ts';

/** Output after one chunk, or from the last `tail` chunks on, or all of it. */
export type OutputQuery = { after?: number; tail?: number; format?: 'raw' | 'events' };
export type OutputMessage = { type: 'chunk'; chunk: OutputChunk } | { type: 'ended' };

/** The client for sessions: their output, their resource use, the CLIs that they run. */
export type SessionClient = {
  output(reference: string, query?: OutputQuery & { limit?: number }): Promise<OutputPage>;
  followOutput(reference: string, query: OutputQuery, signal?: AbortSignal): AsyncGenerator<OutputMessage>;
  top(): Promise<Top>;
  listProviders(query?: { searchPath?: string }): Promise<ProviderList>;
};

export function sessionClient({ get, stream }: Requests): SessionClient {
  const at = (reference: string) => `/api/agents/${segment('agent', reference)}/output`;
  return {
    output: (reference, query) => get(at(reference), query),
    async *followOutput(reference, query, signal) {
      for await (const { event, data } of stream(withQuery(at(reference), query), { signal })) {
        if (event === 'chunk') yield { type: 'chunk', chunk: JSON.parse(data) as OutputChunk };
        else if (event === 'ended') yield { type: 'ended' };
      }
    },
    top: () => get('/api/top'),
    listProviders: (query) => get('/api/providers', query),
  };
}
