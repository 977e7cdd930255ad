import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import { processOf } from '../process-of.ts';

const minuteMs = 60_000;

/** Preset defaults: a CLI that reads its prompt from stdin and has few capabilities. */
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
  access: { full: [], ask: null, readOnly: null },
  hook: null,
  mcp: null,
  model: null,
  options: {},
  outputFormat: 'text',
  patterns: { limit: [], transient: [], auth: [] },
  // A build may be silent for half an hour, which is no reason to end it.
  silence: { noticeMs: minuteMs, hangMs: 45 * minuteMs },
  firstSignal: 'SIGTERM',
  repositorySettings: { paths: [], block: null },
} as const satisfies Partial<ProviderPreset>;

/** Account defaults: only variables are known. */
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

/** Makes a preset from its particulars. */
export function definePreset(
  particular: Pick<ProviderPreset, 'name' | 'description' | 'command'> & Partial<ProviderPreset>,
): ProviderPreset {
  const process = processOf(particular.command);
  return { ...structuredClone<Partial<ProviderPreset>>(basePreset), process, ...particular } as ProviderPreset;
}
