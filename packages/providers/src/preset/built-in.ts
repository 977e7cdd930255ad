import type { ProviderPreset } from '@pawl/core/port/provider';
import { scriptedPreset } from '../scripted.ts';
import { bridgedPresets } from './bridged.ts';
import { claude, claudeCode } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { aider, cline, continueCli, copilot, cursorAgent, generic } from './others.ts';
import { pawlPreset } from './pawl.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

/** All built-in providers; `programs` are commands with their first arguments. */
export function builtInPresets(programs: {
  scriptedAgent: [string, ...string[]];
  bridge: [string, ...string[]];
  engine: [string, ...string[]];
  scriptedState: string;
  engineState: string;
}): ProviderPreset[] {
  return [
    claude,
    claudeCode,
    codex,
    gemini,
    opencode,
    qwen,
    pi,
    copilot,
    aider,
    cline,
    continueCli,
    cursorAgent,
    generic,
    ...bridgedPresets(programs.bridge),
    pawlPreset(programs.engine, programs.engineState),
    scriptedPreset(programs.scriptedAgent, programs.scriptedState),
  ];
}
