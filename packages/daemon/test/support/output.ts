import { sessionFile } from '@pawl/host/session/session-files';
import type { Client } from '@pawl/protocol/client';
import type { OutputChunk } from '@pawl/protocol/sessions/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync, readFileSync } from 'node:fs';

/** An agent's stored output. */
async function storedOutput(client: Client, agentId: string): Promise<OutputChunk[]> {
  const chunks: OutputChunk[] = [];
  for (;;) {
    const page = await client.output(agentId, { after: chunks.at(-1)?.id ?? 0 });
    chunks.push(...page.chunks);
    if (!page.more) return chunks;
  }
}

/** The text of an agent's whole output. */
export async function outputText(client: Client, agentId: string): Promise<string> {
  return (await storedOutput(client, agentId)).map((chunk) => chunk.content).join('');
}

/** Waits until an agent has printed something. */
export async function outputHas(client: Client, agentId: string, text: string): Promise<void> {
  await waitUntil(async () => (await outputText(client, agentId)).includes(text), {
    what: `${text} in the output`,
  });
}

/** Every difference between the store and the sessions' output files: missing, doubled or changed bytes. */
export async function outputDifferences(client: Client, agentId: string): Promise<string[]> {
  const stored = Map.groupBy(await storedOutput(client, agentId), (chunk) => `${chunk.sessionNo} ${chunk.stream}`);
  const differences: string[] = [];
  for (const session of (await client.inspectAgent(agentId)).sessions) {
    for (const [stream, name] of [
      ['stdout', 'out'],
      ['stderr', 'err'],
    ] as const) {
      const path = sessionFile(session.directory, name);
      const file = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
      const bytes = Buffer.concat((stored.get(`${session.no} ${stream}`) ?? []).map(bytesOf));
      if (!bytes.equals(file))
        differences.push(`${agentId} session ${session.no} ${stream}: ${bytes.length} stored, ${file.length} printed`);
    }
  }
  return differences;
}

function bytesOf(chunk: OutputChunk): Buffer {
  return chunk.base64 === undefined ? Buffer.from(chunk.content ?? '') : Buffer.from(chunk.base64, 'base64');
}
