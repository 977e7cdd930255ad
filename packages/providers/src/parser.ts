import type { OutputFormat, OutputParser } from '@pawl/core/port/provider';
import { claudeStreamJson } from './parser/claude-stream-json.ts';
import { clineJson } from './parser/cline-json.ts';
import { continueJson } from './parser/continue-json.ts';
import { codexExec } from './parser/codex-exec.ts';
import { copilotJson } from './parser/copilot-json.ts';
import { geminiStreamJson } from './parser/gemini-stream-json.ts';
import { opencodeJson } from './parser/opencode-json.ts';
import { piJson } from './parser/pi-json.ts';
import { plainText } from './parser/plain-text.ts';

/**
 * The parser of each output format. All are stateless from line to line: a reader may be killed between any two lines,
 * and continue from there.
 */
export const outputParsers: Record<OutputFormat, OutputParser> = {
  'claude-stream-json': claudeStreamJson,
  'codex-exec': codexExec,
  'gemini-stream-json': geminiStreamJson,
  'opencode-json': opencodeJson,
  'pi-json': piJson,
  'copilot-json': copilotJson,
  'cline-json': clineJson,
  'continue-json': continueJson,
  text: plainText,
};
