import { canonicalTool } from '@pawl/core/definitions/tool-name';
import type { Approval } from '@pawl/schema/approval/approval';
import { isConnection } from '@pawl/schema/approval/approval-kind';
import { shellWord } from '@pawl/schema/shell-word';
import { field, list, parseObject, text } from '@pawl/wire/json-line';
import type { AskedRequest } from '../rules/judge.ts';

const pathFields = ['file_path', 'filePath', 'notebook_path', 'path'];

/** Fields of a command that do not change what it does. */
const harmlessFields = ['command', 'description', 'timeout', 'run_in_background'];

/** A request as rules judge it. */
export function askedRequestOf({ kind, tool, detail, cwd }: Approval): AskedRequest {
  const input = parseObject(detail);
  const command = commandOf(field(input, 'command'));
  const paths = [
    ...pathFields.map((name) => text(field(input, name))),
    ...list(field(input, 'changes')).flatMap((change) =>
      ['path', 'move_path'].map((name) => text(field(change, name))),
    ),
  ].filter((path) => path !== '');
  const host = isConnection({ kind, tool }) ? text(field(input, 'host')) : hostOf(text(field(input, 'url')));
  const unclear = unclearPart(tool, command, input ?? {});
  return {
    kind: kind === 'question' || kind === 'plan' ? 'tool' : kind,
    tool,
    ...(command === '' ? {} : { command }),
    ...(paths.length === 0 ? {} : { paths }),
    ...(host === null ? {} : { host }),
    ...(unclear === null ? {} : { unclear }),
    cwd,
  };
}

/** A command as text; of a list of words, as one command. */
function commandOf(value: unknown): string {
  return Array.isArray(value) ? value.map((word) => shellWord(text(word))).join(' ') : text(value);
}

/** A part of the input that rules cannot judge: another directory or variables of a command, a search that leaves its path. */
function unclearPart(tool: string, command: string, input: object): string | null {
  if (command !== '') {
    const other = Object.keys(input).find((name) => !harmlessFields.includes(name));
    return other === undefined ? null : `the field ${other.slice(0, 40)}`;
  }
  if (!['Glob', 'Grep'].includes(canonicalTool(tool))) return null;
  // Grep's pattern is an expression; its glob names files.
  const files = text(field(input, canonicalTool(tool) === 'Glob' ? 'pattern' : 'glob'));
  return /^[/~]|(^|[/{,])\.\.([/},]|$)/.test(files) ? 'a pattern that leaves its directory' : null;
}

function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { host, protocol } = new URL(url);
  return host === '' || !['http:', 'https:'].includes(protocol) ? null : host;
}
