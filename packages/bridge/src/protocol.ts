import type { Arguments } from './arguments.ts';
import type { Input } from './inbox.ts';
import type { InnerLine } from './line-splitter.ts';
import type { TurnEnd, Voice } from './voice.ts';

/** What a protocol is made from: what was asked for, who hears it, and the agent's stdin. */
export type ProtocolContext = {
  options: Arguments;
  voice: Voice;
  send: (message: object) => void;
  /** What to add to the agent's system prompt; empty for nothing. */
  systemPrompt: string;
  mcpServers: McpServer[];
};

/** An MCP server, from Claude Code's file. */
export type McpServer =
  | {
      name: string;
      type: 'stdio';
      command: string;
      args: string[];
      env: Record<string, string>;
      /** Variables of this process that it is to have, too. */
      inherit: string[];
    }
  | { name: string; type: 'http' | 'sse'; url: string; headers: Record<string, string> };

/** A live protocol of an agent. One turn runs at a time. */
export type Protocol = {
  /** Takes a line of the agent. It never throws. */
  receive(line: InnerLine): void;
  /** Begins or takes up the conversation, and says its first line. */
  open(): Promise<void>;
  /** Hands a prompt over and resolves when the turn has ended by the agent's own word. */
  turn(input: Input): Promise<TurnEnd>;
  /** Hands an input to the running turn. False when the agent did not take it: then it waits for the next turn. */
  steer(input: Input): Promise<boolean>;
  /** Asks the agent to end the running turn. The turn's own end follows. */
  interrupt(): Promise<void>;
};
