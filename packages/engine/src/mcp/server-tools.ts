import { createHash, randomUUID } from 'node:crypto';
import { ownServer } from '@pawl/schema/mcp';
import * as z from 'zod';
import type { ImagePart } from '../conversation/message.ts';
import { engineLimits } from '../limit.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import type { CallResult, Connection, ServerTool } from './connection.ts';

const input = z.record(z.string(), z.unknown());

/** The longest name that every vendor takes. */
const nameCharacters = 64;

/** One tool of an MCP server, under the name `mcp__server__tool`. */
export function serverTool(connection: Connection, { name, description, inputSchema }: ServerTool): Tool {
  const shown = nameOf(connection.name, name);
  const { $schema: _, ...schema } = inputSchema;
  return {
    name: shown,
    description: description.slice(0, engineLimits.descriptionCharacters),
    input,
    inputSchema: schema,
    describe: (given) => ({ title: `Call ${name} of ${connection.name}`, input: input.parse(given) }),
    run: async (given, { signal }) =>
      outcomeOf(await connection.call(name, input.parse(given), signal, keyFor(connection))),
  };
}

/** Pawl's own server takes a key, so that a call that is repeated while the daemon restarts has one effect. */
export function keyFor({ name }: Pick<Connection, 'name'>): object {
  return name === ownServer ? { 'pawl/key': randomUUID() } : {};
}

function nameOf(server: string, tool: string): string {
  const whole = `mcp__${server}__${tool}`;
  const plain = whole.replaceAll(/[^\w-]/g, '_');
  if (plain === whole && plain.length <= nameCharacters) return plain;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${plain.slice(0, nameCharacters - hash.length - 1)}_${hash}`;
}

function outcomeOf({ content, structuredContent, isError }: CallResult): ToolOutcome {
  const texts = content.flatMap((part) => ('text' in part ? [part.text] : []));
  const images = content.flatMap((part): ImagePart[] =>
    'data' in part &&
    /^image\/(?:png|jpeg|gif|webp)$/.test(part.mimeType) &&
    part.data.length <= engineLimits.imageBytes
      ? [{ type: 'image', mediaType: part.mimeType, base64: part.data }]
      : [],
  );
  const said = texts.join('\n') || (structuredContent === undefined ? '' : JSON.stringify(structuredContent));
  const most = engineLimits.resultCharacters;
  const text = said.length > most ? `${said.slice(0, most)}\n[cut; it has ${said.length} characters]` : said;
  return { text: text === '' ? '(no output)' : text, isError, ...(images.length === 0 ? {} : { images }) };
}
