import type { Approval } from '@pawl/schema/approval/approval';
import { field, list, parseObject, text } from '@pawl/wire/json-line';
import type { AskedRequest } from '../rules/judge.ts';

const pathFields = ['file_path', 'filePath', 'notebook_path', 'path'];

/** A request as rules judge it. */
export function askedRequestOf({ kind, tool, detail, cwd }: Approval): AskedRequest {
  const input = parseObject(detail);
  const command = text(field(input, 'command'));
  const paths = [
    ...pathFields.map((name) => text(field(input, name))),
    ...list(field(input, 'changes')).map((change) => text(field(change, 'path'))),
  ].filter((path) => path !== '');
  const host = hostOf(text(field(input, 'url')));
  return {
    kind: kind === 'question' || kind === 'plan' ? 'tool' : kind,
    tool,
    ...(command === '' ? {} : { command }),
    ...(paths.length === 0 ? {} : { paths }),
    ...(host === null ? {} : { host }),
    cwd,
  };
}

function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { host, protocol } = new URL(url);
  return host === '' || !['http:', 'https:'].includes(protocol) ? null : host;
}
