import type { Agent, Run, Session } from '../record.ts';

/** An agent with its latest run and session. */
export type AgentFacts = { agent: Agent; run: Run | null; session: Session | null };
