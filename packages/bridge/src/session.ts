import { AgentProcess } from './agent-process.ts';
import type { Exit } from './agent-process.ts';
import type { Arguments, ProtocolName } from './arguments.ts';
import { Conversation } from './conversation.ts';
import { parseMcpServers, readInputFile } from './input-file.ts';
import { bridgeLimits } from './limit.ts';
import { Output } from './output.ts';
import { piCommand } from './pi/pi-command.ts';
import type { Protocol, ProtocolContext } from './protocol.ts';
import { StreamWriter } from './stream-writer.ts';
import { within } from './wait.ts';

/** Exit code when the reader of stdout has gone, like SIGPIPE. */
const readerGone = 141;

type Ending =
  | { kind: 'finished'; code: number }
  | { kind: 'died'; exit: Exit }
  | { kind: 'stopped'; code: number }
  | { kind: 'unheard' };

/** Runs the agent while there are turns, and returns the exit code. Leaves no process of the agent. */
export async function runSession(options: Arguments): Promise<number> {
  const systemPrompt = readInputFile(options.systemPromptFile);
  const mcpServers = parseMcpServers(readInputFile(options.mcpFile));
  const Spoken = await loadProtocol(options.protocol);
  const output = new Output();
  const writer = new StreamWriter(output);
  const stopped = askedToStop();
  const agent = new AgentProcess(options.protocol === 'pi' ? piCommand(options) : options.command, async (line) => {
    protocol.receive(line);
    await output.ready();
  });
  const protocol: Protocol = new Spoken({
    options,
    writer,
    send: (line) => agent.send(line),
    systemPrompt,
    mcpServers,
  });
  const conversation = new Conversation(protocol, writer);
  const conversed = conversation.run();
  const ending = await Promise.race<Ending>([
    agent.ended.then((exit) => ({ kind: 'died', exit })),
    conversed.then((code) => ({ kind: 'finished', code })),
    stopped.then((code) => ({ kind: 'stopped', code })),
    output.closed.then(() => ({ kind: 'unheard' })),
  ]);
  const code = await finish(ending, { agent, conversation, conversed, stopped });
  await within(Promise.race([output.flush(), output.closed]), bridgeLimits.flushMs);
  return code;
}

type Running = {
  agent: AgentProcess;
  conversation: Conversation;
  conversed: Promise<number>;
  stopped: Promise<number>;
};

async function finish(ending: Ending, { agent, conversation, conversed, stopped }: Running): Promise<number> {
  const members = agent.members();
  switch (ending.kind) {
    case 'finished':
      await agent.leave(bridgeLimits.leaveMs, members);
      return ending.code;
    case 'died': {
      // The end of a session may also signal the agent, which may exit first.
      const asked = await within(stopped, bridgeLimits.signalMs);
      if (asked !== null) return asked;
      conversation.fail(agent.describe(ending.exit));
      return 1;
    }
    case 'stopped':
      if (conversation.stop()) await within(conversed, bridgeLimits.politeMs / 2);
      await agent.leave(bridgeLimits.politeMs / 4, members);
      return ending.code;
    case 'unheard':
      conversation.stop();
      await agent.leave(bridgeLimits.politeMs / 4, members);
      return readerGone;
  }
}

/** Loads only the protocol in use: one of the libraries takes longer than everything else. */
async function loadProtocol(name: ProtocolName): Promise<new (context: ProtocolContext) => Protocol> {
  switch (name) {
    case 'acp':
      return (await import('./acp/acp-protocol.ts')).AcpProtocol;
    case 'codex':
      return (await import('./codex/codex-protocol.ts')).CodexProtocol;
    case 'pi':
      return (await import('./pi/pi-protocol.ts')).PiProtocol;
  }
}

/** Resolves when this process is asked to stop. */
function askedToStop(): Promise<number> {
  return new Promise((settle) => {
    process.on('SIGTERM', () => settle(143));
    process.on('SIGINT', () => settle(130));
  });
}
