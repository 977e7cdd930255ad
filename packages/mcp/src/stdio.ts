import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { mcpLimits } from './mcp-limit.ts';
import type { CallerAccess } from './server.ts';
import { createMcpServer } from './server.ts';

/** Serves one client on stdin and stdout until it leaves. Writes nothing but the protocol to stdout. */
export function serveOverStdio(access: CallerAccess, tell: (text: string) => void): Promise<void> {
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: mcpLimits.messageBytes });
  const handle = serveStdio(() => createMcpServer(access), {
    transport,
    onerror: (error) => tell(error.message),
    // Our lists never change.
    maxSubscriptions: 0,
  });
  return new Promise((resolve) => {
    process.stdin.once('close', () => void handle.close().then(resolve, resolve));
  });
}
