import type { Arguments } from './arguments.ts';
import type { ApprovalAnswer } from '@pawl/wire/approval-line';
import type { UserTurn } from '@pawl/wire/claude-input';
import type { InnerLine } from './line-splitter.ts';
import type { TurnEnd, StreamWriter } from './stream-writer.ts';

/** The context of a protocol: options, output, and the agent's stdin. */
export type ProtocolContext = {
  options: Arguments;
  writer: StreamWriter;
  send: (message: object) => void;
  /** Text to append to the agent's system prompt; empty for none. */
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
      /** Variables of this process to pass on. */
      inherit: string[];
    }
  | { name: string; type: 'http' | 'sse'; url: string; headers: Record<string, string> };

/** A live protocol of an agent. One turn runs at a time. */
export type Protocol = {
  /** Handles a line of the agent. Never throws. */
  receive(line: InnerLine): void;
  /** Starts or resumes the conversation, and writes its first line. */
  open(): Promise<void>;
  /** Sends a prompt and resolves when the agent has ended the turn. */
  turn(input: UserTurn): Promise<TurnEnd>;
  /** Sends an input into the running turn. False if the agent did not take it: then it waits for the next turn. */
  steer(input: UserTurn): Promise<boolean>;
  /** Asks the agent to end the running turn; its end follows. */
  interrupt(): Promise<void>;
  /** Passes on the answer to a request for approval; ignores one for a request that is not open. */
  answer?(answer: ApprovalAnswer): void;
};
