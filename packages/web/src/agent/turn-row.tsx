import { bytes, clockTime } from '@pawl/present/amount';
import { ForeignText, line } from '../parts/foreign-text.tsx';
import { Mark, toneClass } from '../parts/mark.tsx';
import type { Part, ToolCall, Turn } from './turns.ts';
import { toolSummary } from './turns.ts';

/** One message: its parts in order, tools as compact rows that open. */
export function TurnRow({ turn }: { turn: Turn }) {
  return (
    <article className="px-4 py-3" data-turn={turn.state}>
      {turn.input !== null && <Told text={turn.input} />}
      <header className="mb-1 flex items-center gap-2 text-xs text-muted">
        <time dateTime={new Date(turn.at).toISOString()}>{clockTime(turn.at)}</time>
        <span>session {turn.sessionNo}</span>
        {turn.state === 'open' && <Mark tone="active">in progress</Mark>}
        {turn.state === 'failed' && <Mark tone="bad">failed</Mark>}
      </header>
      <div className="flex flex-col gap-2">
        {turn.parts.map((part, index) => (
          // Parts are only added at the end.
          // oxlint-disable-next-line react/no-array-index-key
          <PartRow key={index} part={part} />
        ))}
      </div>
    </article>
  );
}

/** Prompts may have many pages: longer ones are folded. */
const foldedCharacters = 600;

function Told({ text }: { text: string }) {
  const look = 'mb-2 rounded-md border-l-2 border-accent bg-raised px-3 py-2';
  if (text.length <= foldedCharacters)
    return (
      <div className={look}>
        <p className="text-xs text-muted">told</p>
        <ForeignText text={text} />
      </div>
    );
  return (
    <details className={look}>
      <summary className="text-xs text-muted">told ({bytes(text.length)})</summary>
      <ForeignText text={text} className="mt-1 text-sm" />
    </details>
  );
}

function PartRow({ part }: { part: Part }) {
  switch (part.is) {
    case 'text':
      return <ForeignText text={part.text} />;
    case 'thinking':
      return (
        <details className="text-sm text-muted">
          <summary>thought</summary>
          <ForeignText text={part.text} className="mt-1 border-l-2 border-line pl-3" />
        </details>
      );
    case 'note':
      return <ForeignText text={part.text} className={`text-sm ${toneClass(part.tone)}`} />;
    case 'tools':
      return <Tools calls={part.calls} />;
  }
}

function Tools({ calls }: { calls: ToolCall[] }) {
  const { text, failed, isRunning } = toolSummary(calls);
  return (
    <details className="rounded-md border border-line bg-raised text-sm" data-tools={calls.length}>
      <summary className="truncate px-2.5 py-1 font-mono">
        <span className={isRunning ? toneClass('active') : failed > 0 ? toneClass('bad') : toneClass('muted')}>
          {isRunning ? '● ' : failed > 0 ? '✕ ' : '✓ '}
        </span>
        {line(text, 200)}
      </summary>
      <ol className="border-t border-line">
        {calls.map((call, index) => (
          // Calls are only added at the end.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="border-b border-line px-2.5 py-1.5 last:border-b-0">
            <p className="flex gap-2 font-mono">
              <span className="text-muted">{clockTime(call.at)}</span>
              <b>{line(call.name)}</b>
            </p>
            <ForeignText text={call.input} className="font-mono text-xs" />
            {call.result !== null && call.result.trim() !== '' && (
              <ForeignText
                text={call.result}
                className={`mt-1 max-h-72 overflow-auto border-l-2 pl-2 font-mono text-xs ${call.failed ? 'border-bad text-bad' : 'border-line text-muted'}`}
              />
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}
