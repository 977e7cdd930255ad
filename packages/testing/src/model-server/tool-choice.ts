import { posix } from 'node:path';
import type { OfferedTool } from './conversation.ts';
import type { Json } from './json.ts';
import { objectOf, textOf } from './json.ts';
import { fillSchema, typesOf } from './schema-fill.ts';

/** A call of an offered tool, with input that fits its schema. */
export type ToolCall = { tool: OfferedTool; input: Json };

const shellNames = [
  'Bash',
  'bash',
  'run_shell_command',
  'shell_command',
  'exec_command',
  'shell',
  'local_shell',
  'execute_command',
  'run_command',
  'run_terminal_command',
];
const commandFields = ['command', 'cmd', 'commands', 'script'];
const writeNames = ['Write', 'write_file', 'write', 'create_file', 'writeFile', 'write_to_file', 'create'];
const pathFields = ['file_path', 'filePath', 'path', 'absolute_path', 'filename', 'filepath'];
const contentFields = ['content', 'contents', 'file_text', 'text'];

/** The timeout of a command, if the tool's schema has one; its default is often ten seconds. */
const patientFields: Record<string, number> = { timeout_ms: 600_000, yield_time_ms: 30_000 };

/** Runs a command with the client's shell tool, or null if it has none. */
export function shellCall(tools: OfferedTool[], command: string): ToolCall | null {
  const tool = byName(tools, shellNames) ?? tools.find((each) => fieldOf(each, commandFields) !== undefined);
  if (tool === undefined) return null;
  const field = fieldOf(tool, commandFields);
  if (field === undefined) return null;
  const takesList = typesOf(propertyOf(tool, field))[0] === 'array';
  const known: Json = { [field]: takesList ? ['bash', '-lc', command] : command };
  for (const [name, value] of Object.entries(patientFields)) {
    if (name in properties(tool)) known[name] = value;
  }
  if (/milliseconds/i.test(textOf(propertyOf(tool, 'timeout')['description']))) known['timeout'] = 600_000;
  return { tool, input: fillSchema(tool.schema, known) };
}

/** Writes a file with the client's own tool, or with its shell; null if it has neither. */
export function writeCall(
  tools: OfferedTool[],
  { path, content }: { path: string; content: string },
  directory: string | null,
): ToolCall | null {
  const tool = byName(tools, writeNames);
  const pathField = tool === undefined ? undefined : fieldOf(tool, pathFields);
  const contentField = tool === undefined ? undefined : fieldOf(tool, contentFields);
  if (tool === undefined || pathField === undefined || contentField === undefined) {
    return shellCall(tools, writeCommand(path, content));
  }
  const whole = directory === null ? path : posix.resolve(directory, path);
  return { tool, input: fillSchema(tool.schema, { [pathField]: whole, [contentField]: content }) };
}

/** Calls the tool with this name or suffix, such as `mcp__server__name`; null if there is none. */
export function namedCall(tools: OfferedTool[], name: string, input: Json): ToolCall | null {
  const tool =
    tools.find((each) => each.name === name) ??
    tools.find((each) => new RegExp(`[_.:/-]${escapeRegExp(name)}$`).test(each.name)) ??
    tools.find((each) => each.name.endsWith(name)) ??
    undeclared(tools, name);
  return tool === undefined ? null : { tool, input: fillSchema(tool.schema, input) };
}

/** Calls the first MCP tool, judging by names; null if there is none. */
export function mcpCall(tools: OfferedTool[], input: Json): ToolCall | null {
  // One CLI writes `server_tool`, and none of its own tools has such a name.
  const pattern = tools.some(({ name }) => name === 'todowrite') ? /_/ : /^(mcp_|pawl_)/;
  const tool = tools.find(({ name, namespace }) => pattern.test(namespace ?? name)) ?? undeclared(tools, 'mcp__');
  return tool === undefined ? null : { tool, input: fillSchema(tool.schema, input) };
}

/** A tool that only a script could find, if the client has scripts. */
function undeclared(tools: OfferedTool[], name: string): OfferedTool | undefined {
  const script = tools.find((tool) => tool.script !== undefined)?.script;
  return script === undefined ? undefined : { name, schema: {}, script };
}

/** A POSIX command that writes a file and creates its directory. */
function writeCommand(path: string, content: string): string {
  const directory = posix.dirname(path);
  return `mkdir -p -- ${quoted(directory)} && printf '%s' ${quoted(content)} > ${quoted(path)}`;
}

/** A command that replaces a file atomically. */
export function replaceCommand(path: string, content: string): string {
  return `${writeCommand(`${path}.new`, content)} && mv -- ${quoted(`${path}.new`)} ${quoted(path)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function byName(tools: OfferedTool[], names: string[]): OfferedTool | undefined {
  for (const name of names) {
    const found = tools.find((tool) => tool.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fieldOf(tool: OfferedTool, names: string[]): string | undefined {
  return names.find((name) => Object.hasOwn(properties(tool), name));
}

function properties(tool: OfferedTool): Json {
  return objectOf(tool.schema['properties']);
}

function propertyOf(tool: OfferedTool, name: string): Json {
  return objectOf(properties(tool)[name]);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
