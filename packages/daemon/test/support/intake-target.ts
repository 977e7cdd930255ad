import type { IntakeTarget } from '@pawl/daemon/sessions/ingest/batch';
import { outputParsers } from '@pawl/providers/parser';

/** What an intake of Claude's output needs beside its agent, session and directory, before anything was read. */
export function freshTarget(): Omit<IntakeTarget, 'agent' | 'session' | 'directory'> {
  return {
    parser: outputParsers['claude-stream-json'],
    reportedBefore: null,
    secrets: [],
    messages: 0,
    openTools: new Map(),
    offsets: { stdout: 0, stderr: 0 },
    proxyOffset: 0,
  };
}
