import type { ProviderPreset } from '@pawl/core/port/provider';

/** The scripted agent: a real process that plays a scenario. It needs no model, no account and no network. */
export function scriptedPreset(program: [string, ...string[]], stateDirectory: string): ProviderPreset {
  return {
    name: 'scripted',
    description: 'plays a scenario file; needs no model',
    command: [...program, '-p', '--input-format', 'stream-json', '--output-format', 'stream-json'],
    env: { PAWL_SCRIPTED_STATE: stateDirectory },
    promptMode: 'stream-json',
    chooseSession: ['--session-id', '{session}'],
    resume: ['--resume', '{session}'],
    fork: ['--resume', '{session}', '--fork-session'],
    forkStyle: 'native',
    tools: { allow: ['--tools', '{tools}'], deny: ['--disallowedTools', '{tools}'] },
    model: ['--model', '{model}'],
    options: { scenario: ['--scenario', '{value}'] },
    outputFormat: 'claude-stream-json',
    usageScope: 'session',
    firstSignal: 'SIGTERM',
  };
}
