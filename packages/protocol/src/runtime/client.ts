import type { RuntimeEvent } from '@pawl/schema/runtime/runtime-event';
import type {
  Cancelled,
  ChatAnswer,
  ChatBody,
  ContextQuery,
  RunContext,
  RunRecords,
  RunsQuery,
  RuntimeSettings,
  WorkspaceState,
  WorkspaceTree,
} from './view.ts';
import type { Requests } from '../requests.ts';
import { withQuery } from '../requests.ts';

export type RuntimeMessage = { type: 'event'; event: RuntimeEvent } | { type: 'gap'; lastSeq: number };

/** The client for the runtime contract. */
export type RuntimeClient = {
  chat(body: ChatBody, key?: string): Promise<ChatAnswer>;
  agentRuns(query?: RunsQuery): Promise<RunRecords>;
  agentChildren(query: { run_id: string }): Promise<RunRecords>;
  agentContext(query: ContextQuery): Promise<RunContext>;
  agentCancel(body: { run_id: string }): Promise<Cancelled>;
  runtimeSettings(query: { project_root: string }): Promise<RuntimeSettings>;
  changeRuntimeSettings(body: { project_root: string; mode: 'chat' | 'auto' }): Promise<RuntimeSettings>;
  workspaceTree(query: { project_root: string }): Promise<WorkspaceTree>;
  workspaceState(query: { project_root: string }): Promise<WorkspaceState>;
  /** Follows the events, from the next one or after a number. */
  followRuntime(
    query: { agent?: string; project_root?: string; session_id?: string; after?: number },
    signal?: AbortSignal,
  ): AsyncGenerator<RuntimeMessage>;
};

export function runtimeClient({ get, post, stream }: Requests): RuntimeClient {
  return {
    chat: (body, key) => post('/api/chat', body, key === undefined ? {} : { key }),
    agentRuns: (query) => get('/api/agent-runs', query),
    agentChildren: (query) => get('/api/agent-children', query),
    agentContext: (query) => get('/api/agent-context', query),
    agentCancel: (body) => post('/api/agent-cancel', body, { waits: true }),
    runtimeSettings: (query) => get('/api/settings', query),
    changeRuntimeSettings: (body) => post('/api/settings', body),
    workspaceTree: (query) => get('/api/workspace/tree', query),
    workspaceState: (query) => get('/api/workspace/state', query),
    async *followRuntime({ after, ...query }, signal) {
      const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': String(after) };
      const path = withQuery('/api/events', { ...query, view: 'runtime' });
      for await (const { event, data } of stream(path, { headers, signal })) {
        if (event === 'gap') yield { type: 'gap', lastSeq: (JSON.parse(data) as { lastSeq: number }).lastSeq };
        else yield { type: 'event', event: JSON.parse(data) as RuntimeEvent };
      }
    },
  };
}
