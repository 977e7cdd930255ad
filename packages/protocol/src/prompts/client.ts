import type { InputView, PromptView } from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

/** The client for agents’ prompts and input files. */
export type PromptClient = {
  agentPrompt(reference: string, query?: { session?: number }): Promise<PromptView>;
  agentInputs(reference: string): Promise<InputView>;
};

export function promptClient({ get }: Requests): PromptClient {
  return {
    agentPrompt: (reference, query) => get(`/api/agents/${segment('agent', reference)}/prompt`, query),
    agentInputs: (reference) => get(`/api/agents/${segment('agent', reference)}/inputs`),
  };
}
