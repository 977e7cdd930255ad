import type { ProviderPreset } from '@pawl/core/port/provider';

/** The capabilities of a provider, for a person to choose by. */
export type Capabilities = {
  resume: boolean;
  fork: ProviderPreset['forkStyle'];
  /** Whether a running turn takes messages. */
  liveFollowUps: boolean;
  systemPrompt: boolean;
  mcp: boolean;
  /** How tool limits are enforced: by the CLI itself or by asking Pawl, by read-only mode, or not at all. */
  toolGate: 'hard' | 'read-only' | 'none';
  chosenSessionId: boolean;
  accounts: ('key' | 'token' | 'directory')[];
  reportsCost: boolean;
  reportsTokens: boolean;
};

/** Output formats without token counts. */
const withoutTokens: readonly ProviderPreset['outputFormat'][] = ['text', 'copilot-json', 'continue-json'];

/** Derives the capabilities from a preset. */
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
