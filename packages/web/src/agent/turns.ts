import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { StreamEvent } from '@pawl/schema/stream-event';

export type ToolCall = { id: string; name: string; input: string; at: number; result: string | null; failed: boolean };

/** A part of a message, in the order in which it came. */
export type Part =
  | { is: 'text'; text: string; at: number }
  | { is: 'thinking'; text: string; at: number }
  | { is: 'tools'; calls: ToolCall[]; at: number }
  | { is: 'note'; text: string; tone: 'attention' | 'bad' | 'muted'; at: number };

/** What an agent says and does from one input to the end of its turn: one message, which grows while it is open. */
export type Turn = {
  /** The id of its first chunk. */
  id: number;
  sessionNo: number;
  at: number;
  /** What it was told in this turn. */
  input: string | null;
  parts: Part[];
  state: 'open' | 'done' | 'failed';
};

/** Turns an agent's output into messages as it comes. Chunks that were seen before are ignored. */
export function createTurns(): { add(chunk: OutputChunk): boolean; list(): readonly Turn[] } {
  const turns: Turn[] = [];
  let lastChunk = 0;
  /** The pieces of a text whose whole has not come. */
  let said = '';

  function current(chunk: OutputChunk): Turn {
    const last = turns.at(-1);
    if (last !== undefined && last.state === 'open' && last.sessionNo === chunk.sessionNo) return last;
    if (last?.state === 'open') last.state = 'done';
    const next: Turn = {
      id: chunk.id,
      sessionNo: chunk.sessionNo,
      at: chunk.at,
      input: null,
      parts: [],
      state: 'open',
    };
    turns.push(next);
    said = '';
    return next;
  }

  return {
    add(chunk) {
      // The rest of an unfinished line comes without an id of its own.
      if (chunk.id <= lastChunk && chunk.id !== 0) return false;
      lastChunk = Math.max(lastChunk, chunk.id);
      for (const event of chunk.events ?? []) said = addEvent(current(chunk), event, chunk.at, said);
      return (chunk.events ?? []).length > 0;
    },
    list: () => turns,
  };
}

/** Adds an event to a message; returns the pieces of the text that is not whole yet. */
function addEvent(turn: Turn, event: StreamEvent, at: number, said: string): string {
  switch (event.type) {
    case 'text-delta':
      appendText(turn, event.text, at);
      return said + event.text;
    case 'text':
      if (event.piece === true) appendText(turn, event.text, at);
      else if (said !== '' && event.text.startsWith(said)) appendText(turn, event.text.slice(said.length), at);
      else turn.parts.push({ is: 'text', text: event.text, at });
      return '';
    case 'thinking':
      turn.parts.push({ is: 'thinking', text: event.text, at });
      return said;
    case 'tool-call':
      addCall(turn, { id: event.id, name: event.name, input: event.input, at, result: null, failed: false });
      return '';
    case 'tool-result':
      addResult(turn, event.id, event.text, event.isError);
      return said;
    case 'echo':
      turn.input = turn.input === null ? event.text : `${turn.input}\n\n${event.text}`;
      return said;
    case 'limit':
      turn.parts.push({ is: 'note', text: 'reached a usage limit', tone: 'attention', at });
      return said;
    case 'retry':
      turn.parts.push({ is: 'note', text: event.text, tone: 'attention', at });
      return said;
    case 'unknown':
      if (event.text.trim() !== '') appendText(turn, `${event.text}\n`, at);
      return '';
    case 'result':
      turn.state = event.ok ? 'done' : 'failed';
      if (!event.ok) turn.parts.push({ is: 'note', text: event.text, tone: 'bad', at });
      return '';
    default:
      return said;
  }
}

function appendText(turn: Turn, text: string, at: number): void {
  const last = turn.parts.at(-1);
  if (last?.is === 'text') last.text += text;
  else if (text !== '') turn.parts.push({ is: 'text', text, at });
}

/** Calls that follow each other are one row. */
function addCall(turn: Turn, call: ToolCall): void {
  const last = turn.parts.at(-1);
  if (last?.is === 'tools') last.calls.push(call);
  else turn.parts.push({ is: 'tools', calls: [call], at: call.at });
}

function addResult(turn: Turn, id: string, text: string, failed: boolean): void {
  const calls = turn.parts.flatMap((part) => (part.is === 'tools' ? part.calls : []));
  const call = calls.findLast((each) => each.result === null && (id === '' || each.id === id));
  if (call === undefined) return;
  call.result = text;
  call.failed = failed;
}

/** The tools of a message in one line: how many, how many failed, and the latest. */
export function toolSummary(calls: readonly ToolCall[]): { text: string; failed: number; isRunning: boolean } {
  const failed = calls.filter((call) => call.failed).length;
  const last = calls.at(-1);
  const number = calls.length === 1 ? '' : `${calls.length} tools${failed === 0 ? '' : `, ${failed} failed`} · `;
  return { text: `${number}${last?.name ?? ''} ${last?.input ?? ''}`, failed, isRunning: last?.result === null };
}
