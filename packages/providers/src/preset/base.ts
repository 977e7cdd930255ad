import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import { processOf } from '../process-of.ts';

const minuteMs = 60_000;

/** What a CLI is taken to be as long as its preset says nothing else: one that reads its prompt from stdin and can do little. */
const basePreset = {
  env: {},
  rootEnv: {},
  version: ['--version'],
  install: null,
  variables: { settings: [], secrets: [] },
  account: null,
  promptMode: 'stdin',
  echoes: false,
  promptArguments: [],
  systemPrompt: null,
  chooseSession: null,
  resume: null,
  fork: null,
  forkStyle: 'replay',
  tools: null,
  access: { full: [], readOnly: null },
  hook: null,
  mcp: null,
  model: null,
  options: {},
  outputFormat: 'text',
  patterns: { limit: [], transient: [], auth: [] },
  // A build may well be silent for half an hour, and that is no reason to end it.
  silence: { noticeMs: minuteMs, hangMs: 45 * minuteMs },
  firstSignal: 'SIGTERM',
  repositorySettings: { paths: [], block: null },
} as const satisfies Partial<ProviderPreset>;

/** How credentials reach a CLI of which nothing is known but the variables. */
export const baseAccount: AccountUse = {
  key: null,
  token: null,
  baseUrl: null,
  directory: null,
  baseUrlArguments: [],
  files: {},
  conversations: [],
  credentials: null,
};

/** A preset from what is particular about it. */
export function definePreset(
  particular: Pick<ProviderPreset, 'name' | 'description' | 'command'> & Partial<ProviderPreset>,
): ProviderPreset {
  const process = processOf(particular.command);
  return { ...structuredClone<Partial<ProviderPreset>>(basePreset), process, ...particular } as ProviderPreset;
}
