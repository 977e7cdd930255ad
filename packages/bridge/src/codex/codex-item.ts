import { at, blockTexts, isObject, listAt, textAt } from '../json.ts';

/** A tool call of Codex, translated. */
export type CodexTool = { name: string; input: Record<string, unknown>; result: string; isError: boolean };

/** The tool call in an item, or null. */
export function toolOf(item: unknown): CodexTool | null {
  const status = textAt(item, 'status');
  const isError = status === 'failed' || status === 'declined';
  switch (at(item, 'type')) {
    case 'commandExecution': {
      const code = at(item, 'exitCode');
      return {
        name: 'Bash',
        input: { command: textAt(item, 'command') },
        result: textAt(item, 'aggregatedOutput'),
        isError: isError || (typeof code === 'number' && code !== 0),
      };
    }
    case 'fileChange': {
      const changes = listAt(item, 'changes');
      const paths = changes.map((change) => textAt(change, 'path')).join(', ');
      return { name: 'Edit', input: { file_path: paths, changes }, result: status, isError };
    }
    case 'mcpToolCall':
      return {
        name: `mcp__${textAt(item, 'server')}__${textAt(item, 'tool')}`,
        input: argumentsOf(item),
        result: blockTexts(listAt(item, 'result', 'content')) || textAt(item, 'error', 'message'),
        isError: isError || isObject(at(item, 'error')),
      };
    case 'dynamicToolCall':
      return {
        name: textAt(item, 'tool'),
        input: argumentsOf(item),
        result: blockTexts(listAt(item, 'contentItems')),
        isError: isError || at(item, 'success') === false,
      };
    case 'webSearch':
      return { name: 'WebSearch', input: { query: textAt(item, 'query') }, result: '', isError: false };
    case 'collabAgentToolCall':
      return { name: textAt(item, 'tool'), input: { prompt: textAt(item, 'prompt') }, result: status, isError };
    default:
      return null;
  }
}

/** The text of a reasoning item. */
export function thoughtOf(item: unknown): string {
  const parts = [...listAt(item, 'summary'), ...listAt(item, 'content')];
  return parts.filter((part): part is string => typeof part === 'string').join('\n\n');
}

function argumentsOf(item: unknown): Record<string, unknown> {
  const given = at(item, 'arguments');
  return isObject(given) ? given : { arguments: given };
}
