import type { ProviderPreset } from '@pawl/core/port/provider';

/** What a provider can do, in words that a person chooses one by. */
export type Capabilities = {
  resume: boolean;
  fork: ProviderPreset['forkStyle'];
  /** Whether a running turn takes messages. */
  liveFollowUps: boolean;
  systemPrompt: boolean;
  mcp: boolean;
  /** How limits on tools are kept: by the CLI itself or by asking Pawl, by keeping it from writing, or not at all. */
  toolGate: 'hard' | 'read-only' | 'none';
  chosenSessionId: boolean;
  accounts: ('key' | 'token' | 'directory')[];
  reportsCost: boolean;
  reportsTokens: boolean;
};

/** Formats of output that say nothing of tokens. */
const withoutTokens: readonly ProviderPreset['outputFormat'][] = ['text', 'copilot-json', 'continue-json'];

/** Reads what a provider can do from its preset. */
export function capabilitiesOf(preset: ProviderPreset): Capabilities {
  const { account } = preset;
  return {
    resume: preset.resume !== null,
    fork: preset.forkStyle,
    liveFollowUps: preset.promptMode === 'stream-json',
    systemPrompt: preset.systemPrompt !== null,
    mcp: preset.mcp !== null,
    toolGate:
      preset.tools !== null || preset.hook !== null ? 'hard' : preset.access.readOnly === null ? 'none' : 'read-only',
    chosenSessionId: preset.chooseSession !== null,
    accounts: (['key', 'token', 'directory'] as const).filter((kind) => (account?.[kind] ?? null) !== null),
    reportsCost: preset.reportsCost ?? false,
    reportsTokens: !withoutTokens.includes(preset.outputFormat),
  };
}
