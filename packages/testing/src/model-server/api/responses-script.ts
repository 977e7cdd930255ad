import type { OfferedTool } from '../conversation.ts';
import type { Json } from '../json.ts';
import { textOf } from '../json.ts';

/**
 * Some of OpenAI's models get one tool that runs JavaScript, and all others only as functions of that JavaScript,
 * declared in its description. They are offered here like any other tool, and called by a short script.
 */
export function toolsInScripts(tool: Json, namespace?: string): OfferedTool[] {
  const description = textOf(tool['description']);
  if (!description.includes('await tools.')) return [];
  const script = { name: textOf(tool['name']), ...(namespace === undefined ? {} : { namespace }) };
  const declarations = description.matchAll(/declare const tools: \{ (\w+)\(args: \{\n([^]*?)\n\}\)/g);
  return [...declarations].map(([, name = '', fields = '']) => ({ name, schema: schemaOf(fields), script }));
}

const schemaTypes = ['string', 'number', 'boolean'];

/** The fields of a TypeScript type as a JSON schema: only the outermost, with simple types. */
function schemaOf(fields: string): Json {
  const found = [...fields.matchAll(/^ {2}(\w+)(\?)?: ([^;\n]*)/gm)];
  const properties = found.map(([, name, , type = '']): [string, Json] => {
    if (type.endsWith('[]') || type.startsWith('Array<')) return [name ?? '', { type: 'array' }];
    return [name ?? '', schemaTypes.includes(type) ? { type } : {}];
  });
  const required = found.filter(([, , optional]) => optional === undefined).map(([, name]) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

/** How long a script may run before its call returns, and how long each wait for a command is. */
const scriptMs = 600_000;
const waitMs = 60_000;

/** A script that calls one tool, waits for a running command, and prints the result. */
export function scriptOf({ name, input }: { name: string; input: Json }): string {
  return [
    `// @exec: {"yield_time_ms": ${scriptMs}}`,
    `const wanted = ${JSON.stringify(name)};`,
    // MCP tools are not declared; only the script itself can find them.
    "const names = ALL_TOOLS.map(({ name }) => name).filter((name) => name.startsWith('mcp__'));",
    "const found = names.find((name) => (wanted === 'mcp__' ? true : name.endsWith('__' + wanted)));",
    `let result = await tools[tools[wanted] ? wanted : found](${JSON.stringify(input)});`,
    `while (result?.session_id) result = await tools.write_stdin({ session_id: result.session_id, yield_time_ms: ${waitMs} });`,
    'text(result?.output ?? result);',
  ].join('\n');
}
